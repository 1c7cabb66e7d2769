import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { LocalAws } from './server.ts';

/** What an SDK client needs; what is not in it, the SDK finds by its own rules. */
export interface ClientConfig {
  readonly endpoint?: string;
  readonly region: string;
  readonly credentials?: Credentials;
}

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** As the local account's root, which no policy limits; the process must trust the server too. */
export function clientConfig(aws: LocalAws): ClientConfig {
  if (aws.reach === 'account') return { region: aws.region };
  return {
    endpoint: aws.endpoint,
    region: aws.region,
    credentials: {
      accessKeyId: aws.env.AWS_ACCESS_KEY_ID ?? '',
      secretAccessKey: aws.env.AWS_SECRET_ACCESS_KEY ?? '',
    },
  };
}

/** Makes this process trust its certificate: NODE_EXTRA_CA_CERTS is read only when Node starts. */
export function trust(aws: LocalAws): void {
  setDefaultCACertificates([...getCACertificates('default'), aws.certificate]);
}

/** Points every AWS client that this process makes from now on, and every child of it, to the local AWS. */
export function pointProcessAt(aws: LocalAws): void {
  if (aws.reach === 'account') return;
  const env = environmentOf(aws);
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  trust(aws);
}

/** This process's environment with the local AWS in place of whatever AWS it knew: no profile, no token, no file. */
export function environmentOf(aws: LocalAws): NodeJS.ProcessEnv {
  if (aws.reach === 'account') return { ...process.env, ...aws.env };
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('AWS_'));
  return { ...Object.fromEntries(others), ...aws.env };
}
