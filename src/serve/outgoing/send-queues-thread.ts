// The thread that looks at the kernel's send queues: the answer to where a server listens is what its
// connections hold.
import { answerQuestions } from '../../base/worker-client.ts';
import { readSendQueues } from './send-queues.ts';

answerQuestions(readSendQueues);
