/** The test that must fail once the guard is weakened: its file and the last part of its title. */
export interface Catcher {
  readonly file: string;
  readonly title: string;
}

/** One guard of the real source, how it is weakened, and what catches that. */
export interface Guard {
  readonly name: string;
  /** What the source does no longer, as the rest of the sentence "Without the guard, …". */
  readonly weakened: string;
  /** Invariants and pitfalls that the guard is there for, as in `I3, P55`. */
  readonly protects: string;
  readonly file: string;
  /** Exact text that occurs once in the file. */
  readonly find: string;
  readonly replace: string;
  readonly catcher: Catcher;
}

/** A guard whose text is not once in its file: the source has moved on, and the guard says nothing any more. */
export class StaleGuard extends Error {
  override readonly name = 'StaleGuard';
}

/** The source with the guard taken out. Throws StaleGuard where its text does not occur exactly once. */
export function weaken(source: string, { name, file, find, replace }: Guard): string {
  const times = source.split(find).length - 1;
  if (times !== 1) throw new StaleGuard(`${name}: its text occurs ${times} times in ${file}, and should once.`);
  return source.replace(find, () => replace);
}
