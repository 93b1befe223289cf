// What Linux tells of a process: its memory, its processor time, and the processes that it started.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** Most memory that a process has held, in bytes: the kernel's own mark. 0 when it has ended. */
export const peakBytes = (pid: number): number => statusBytes(pid, 'VmHWM');

/** Memory that some processes hold together, in bytes. */
export const residentBytes = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => sum + statusBytes(pid, 'VmRSS'), 0);

function statusBytes(pid: number, field: string): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

/** A process and all that it has started. */
export function family(pid: number): number[] {
  const children = tasksOf(pid).flatMap(
    (task) => readFileSync(`${task}/children`, 'utf8').match(/\d+/g) ?? [],
  );
  return [pid, ...children.flatMap((child) => family(Number(child)))];
}

const tasksOf = (pid: number): string[] =>
  readdirSync(`/proc/${pid}/task`).map((task) => `/proc/${pid}/task/${task}`);

/**
 * Processor time that some processes have used in all their threads, user and system, in microseconds; that
 * of their ended children too.
 */
export const cpuUs = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => sum + usedUs(`/proc/${pid}/stat`, 4), 0);

/** The same of the worker threads of a process alone: of a server with one process, the query threads. */
export function workerCpuUs(pid: number): number {
  const workers = tasksOf(pid).filter((task) => readFileSync(`${task}/comm`, 'utf8') === 'WorkerThread\n');
  return workers.reduce((sum, task) => sum + usedUs(`${task}/stat`, 2), 0);
}

/** The same of each thread of some processes, by its folder in proc(5). */
export const threadsUs = (pids: readonly number[]): ReadonlyMap<string, number> =>
  new Map(pids.flatMap(tasksOf).map((task) => [task, usedUs(`${task}/stat`, 2)]));

let tickUs = 0;

/**
 * By a file in the form of proc_pid_stat(5): the first two times are its own, the next two those of its
 * children that have ended.
 */
function usedUs(path: string, times: 2 | 4): number {
  tickUs ||= 1e6 / Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
  const stat = readFileSync(path, 'utf8');
  // The name in brackets may hold anything: fields are counted from behind it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 11 + times).reduce((sum, ticks) => sum + Number(ticks), 0) * tickUs;
}
