// A worker thread that answers questions: this side asks them, `answerQuestions` is the thread's side.
import { parentPort, Worker, type WorkerOptions } from 'node:worker_threads';

type Asked<Question> = readonly [id: number, question: Question];
type Said<Answer> = readonly [id: number, answer: Answer] | readonly [id: number, answer: null, error: Error];

/** The client of one thread. It starts with the first question, and again with the next once it has ended. */
export class WorkerClient<Question, Answer> {
  readonly #name: string;
  readonly #program: URL;
  readonly #options: WorkerOptions & { readonly isUnref?: boolean };
  readonly #open = new Map<number, PromiseWithResolvers<Answer>>();
  #worker: Worker | null = null;
  #lastId = 0;

  /** @param name that errors give; with `isUnref` the thread does not keep the process running */
  constructor(name: string, program: URL, options: WorkerOptions & { readonly isUnref?: boolean } = {}) {
    this.#name = name;
    this.#program = program;
    this.#options = options;
  }

  /** The answer to a question. @throws the error of the thread, or that it has ended */
  ask(question: Question): Promise<Answer> {
    const open = Promise.withResolvers<Answer>();
    const id = ++this.#lastId;
    this.#worker ??= this.#start();
    this.#worker.postMessage([id, question] satisfies Asked<Question>);
    this.#open.set(id, open);
    return open.promise;
  }

  /** True while there is a thread. */
  get isRunning(): boolean {
    return this.#worker !== null;
  }

  /** Ends the thread; open questions fail. */
  async stop(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(this.#program, this.#options);
    let cause = new Error(`${this.#name} ended`);
    worker.on('message', ([id, answer, error]: Said<Answer>) => {
      const open = this.#open.get(id);
      this.#open.delete(id);
      if (error === undefined) open?.resolve(answer as Answer);
      else open?.reject(error);
    });
    worker.once('error', (error: Error) => {
      cause = error;
    });
    worker.once('exit', () => {
      this.#worker = null;
      for (const { reject } of this.#open.values()) reject(cause);
      this.#open.clear();
    });
    // Listening to messages holds the process, so this comes after.
    if (this.#options.isUnref === true) worker.unref();
    return worker;
  }
}

/** In a thread: answers the questions of its client, several at a time where answers take time. */
export function answerQuestions<Question, Answer>(
  answer: (question: Question) => Answer | Promise<Answer>,
): void {
  const respond = async ([id, question]: Asked<Question>): Promise<void> => {
    try {
      parentPort!.postMessage([id, await answer(question)] satisfies Said<Answer>);
    } catch (error) {
      parentPort!.postMessage([id, null, error as Error] satisfies Said<Answer>);
    }
  };
  parentPort!.on('message', (asked: Asked<Question>) => void respond(asked));
}
