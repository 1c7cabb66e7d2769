import { MemoryLedger } from '../model/index.ts';
import { ledgerContract } from './ledger.contract.ts';

ledgerContract('in memory', async () => new MemoryLedger());
ledgerContract(
  'in memory, with empty pages',
  async () => new MemoryLedger({ paging: { size: 2, emptyPages: 'between' } }),
);
