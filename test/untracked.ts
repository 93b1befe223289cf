// Loaded before each test file. node:test follows every promise, to tell which test an uncaught error belongs
// to: an `await` then takes twenty times as long. Here nothing is followed: an uncaught error fails the file.
import hooks from 'node:async_hooks';
import '../src/cli/own-modules.ts';

const none = { enable: () => none, disable: () => none };
Object.assign(hooks, { createHook: () => none });

process.on('uncaughtExceptionMonitor', (error) => console.error(error));
