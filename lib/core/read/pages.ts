import type { Page } from '../ports/index.ts';

/** Every item of a paged read, page by page; an empty page is not the end (pitfall P11). */
export async function* everyItem<T>(read: (cursor: string | undefined) => Promise<Page<T>>): AsyncGenerator<T> {
  let cursor: string | undefined;
  do {
    const page = await read(cursor);
    yield* page.items;
    cursor = page.next;
  } while (cursor !== undefined);
}
