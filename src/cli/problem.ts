// What can be wrong with a service, apart from what is needed to run one.

/** The service cannot run as things are; the message says what to do. Exit status 3. */
export class ServiceProblem extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ServiceProblem';
  }
}
