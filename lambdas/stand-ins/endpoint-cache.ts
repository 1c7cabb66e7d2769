/**
 * Stands in for `@aws-sdk/endpoint-cache`, which brings a cache written for thousands of entries. DynamoDB's client
 * makes one for endpoint discovery, which is off unless the environment asks for it; nothing here does.
 */
export class EndpointCache {
  getEndpoint(): undefined {
    return undefined;
  }

  get(): undefined {
    return undefined;
  }

  has(): boolean {
    return false;
  }

  set(): void {}

  delete(): void {}

  clear(): void {}
}
