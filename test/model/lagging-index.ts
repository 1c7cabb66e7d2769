/**
 * An eventually consistent view: changes become visible in order, but only once more than `lag` of them are waiting
 * or somebody settles it.
 */
export class LaggingIndex<T> {
  readonly #entries = new Map<string, T>();
  readonly #waiting: { readonly key: string; readonly entry: T | undefined }[] = [];
  readonly #lag: number;

  constructor(lag: number) {
    this.#lag = lag;
  }

  /** Undefined takes the entry out. */
  set(key: string, entry: T | undefined): void {
    this.#waiting.push({ key, entry });
    this.#show(this.#lag);
  }

  /** True where a reader sees less than was written. */
  get isBehind(): boolean {
    return this.#waiting.length > 0;
  }

  settle(): void {
    this.#show(0);
  }

  /** Entries that are visible, in order of their keys. */
  sorted(): readonly (readonly [string, T])[] {
    return [...this.#entries].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  #show(remaining: number): void {
    while (this.#waiting.length > remaining) {
      const change = this.#waiting.shift();
      if (change === undefined) return;
      if (change.entry === undefined) this.#entries.delete(change.key);
      else this.#entries.set(change.key, change.entry);
    }
  }
}
