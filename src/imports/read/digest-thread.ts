// A thread that reads a whole file for its hash, while the file is imported.
import { answerQuestions } from '../../base/worker-client.ts';
import { digestOf } from './digest.ts';

answerQuestions(digestOf);
