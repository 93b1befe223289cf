// The thread that looks at the kernel's send queues: the answer to where a server listens is what its
// connections hold, and what the look has cost.
import { answerQuestions } from '../../base/worker-client.ts';
import { type Listening, type Look, readSendQueues } from './send-queues.ts';

answerQuestions((server: Listening): Look => {
  const before = process.threadCpuUsage();
  const queues = readSendQueues(server);
  const { user, system } = process.threadCpuUsage(before);
  return { queues, processorMs: (user + system) / 1_000 };
});
