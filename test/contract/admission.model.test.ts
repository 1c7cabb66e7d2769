import { MemoryAdmission, World } from '../model/index.ts';
import { admissionContract } from './admission.contract.ts';

admissionContract('in memory', async () => {
  const admission = new MemoryAdmission(new World({ seed: 1 }));
  return () => admission;
});
