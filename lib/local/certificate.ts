import { randomUUID } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generate } from 'selfsigned';

/** Files in PEM form. The certificate is its own issuer: clients trust exactly it. */
export interface Certificate {
  readonly certificateFile: string;
  readonly keyFile: string;
  readonly certificate: string;
}

const VALIDITY_DAYS = 30;

/**
 * Makes a certificate for localhost and 127.0.0.1. Each run has its own, so that whoever answers over TLS with it is
 * the server of that run and no other.
 */
export async function makeCertificate(folder: string): Promise<Certificate> {
  // A process may trust several; among certificates of one name, TLS would look at the first only.
  const name = `ledgersweep local AWS ${randomUUID().slice(0, 8)}`;
  const made = await generate([{ name: 'commonName', value: name }], {
    keyType: 'ec',
    curve: 'P-256',
    notAfterDate: new Date(Date.now() + VALIDITY_DAYS * 86_400_000),
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  });
  const certificateFile = join(folder, 'certificate.pem');
  const keyFile = join(folder, 'key.pem');
  writeFileSync(certificateFile, made.cert);
  writeFileSync(keyFile, made.private, { mode: 0o600 });
  chmodSync(keyFile, 0o600);
  return { certificateFile, keyFile, certificate: made.cert };
}
