import { beforeEach, describe, expect, it } from 'vitest';
import { DAY_MILLIS } from '../../lib/core/identity/instant.ts';
import type { Signer } from '../../lib/core/ports/index.ts';

export interface SignerHarness {
  /** As a new process has it. */
  open(): Signer;
  /** Signs with a new key from now on; the one before is retired now. */
  rotate(): Promise<void>;
  /** Lets time pass, as every process sees it. */
  pass(millis: number): void;
}

const MINUTE = 60_000;
const content = (text: string) => Buffer.from(text);

/** What every signer must do; `make` gives a ring of one key. */
export function signerContract(name: string, make: () => Promise<SignerHarness>): void {
  describe(`signer contract: ${name}`, () => {
    let harness: SignerHarness;
    beforeEach(async () => {
      harness = await make();
    });

    it('finds valid what another process signed', async () => {
      const { keyId, mac } = await harness.open().sign(content('a'));
      expect(await harness.open().verify(content('a'), keyId, mac)).toBe('valid');
    });

    it('finds any other content or MAC forged', async () => {
      const signer = harness.open();
      const { keyId, mac } = await signer.sign(content('a'));
      expect(await signer.verify(content('b'), keyId, mac)).toBe('forged');
      const { mac: other } = await signer.sign(content('b'));
      for (const wrong of ['', mac.slice(1), other]) {
        expect(await signer.verify(content('a'), keyId, wrong), wrong).toBe('forged');
      }
    });

    it('takes one spelling of a MAC and no other', async () => {
      const signer = harness.open();
      const { keyId, mac } = await signer.sign(content('a'));
      for (const wrong of [`${mac}=`, ` ${mac}`, `${mac}\n`]) {
        expect(await signer.verify(content('a'), keyId, wrong), JSON.stringify(wrong)).toBe('forged');
      }
    });

    it('knows no key that is not in the ring, and does not call it forged', async () => {
      const signer = harness.open();
      const { mac } = await signer.sign(content('a'));
      expect(await signer.verify(content('a'), 'no-such-key', mac)).toBe('unknown-key');
    });

    it('signs with the new key after a rotation, and verifies what was signed with the one before', async () => {
      const before = harness.open();
      const old = await before.sign(content('a'));
      await harness.rotate();
      const after = harness.open();
      const signed = await after.sign(content('a'));
      expect(signed.keyId).not.toBe(old.keyId);
      expect(await after.verify(content('a'), old.keyId, old.mac)).toBe('valid');
      expect(await after.verify(content('a'), signed.keyId, old.mac)).toBe('forged');
      // A process that has been up for a while hears of the new key too.
      harness.pass(MINUTE);
      expect(await before.verify(content('a'), signed.keyId, signed.mac)).toBe('valid');
      harness.pass(15 * MINUTE);
      expect((await before.sign(content('a'))).keyId).toBe(signed.keyId);
    });

    it('verifies with a retired key for 30 days, and no longer', async () => {
      const { keyId, mac } = await harness.open().sign(content('a'));
      await harness.rotate();
      harness.pass(30 * DAY_MILLIS - 1);
      expect(await harness.open().verify(content('a'), keyId, mac)).toBe('valid');
      harness.pass(2);
      expect(await harness.open().verify(content('a'), keyId, mac)).toBe('forged');
    });
  });
}
