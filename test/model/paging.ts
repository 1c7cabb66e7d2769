import type { Page } from '../../lib/core/ports/index.ts';

export interface Paging {
  readonly size: number;
  /** `between`: before every page with items comes one without, and it has a cursor (pitfall P11). */
  readonly emptyPages: 'none' | 'between';
}

const AFTER_EMPTY = '+';

/**
 * One page of items in the order of their keys, after the cursor's key: insertions and deletions between two pages
 * shift nothing. As in DynamoDB, a page that is exactly full has a cursor even where nothing follows.
 */
export function keysetPage<T>(
  sorted: readonly T[],
  keyOf: (item: T) => string,
  cursor: string | undefined,
  paging: Paging,
): Page<T> {
  if (paging.emptyPages === 'between' && !cursor?.startsWith(AFTER_EMPTY)) {
    return { items: [], next: `${AFTER_EMPTY}${cursor ?? ''}` };
  }
  const after = paging.emptyPages === 'between' ? cursor?.slice(AFTER_EMPTY.length) : cursor;
  const items = sorted
    .filter((item) => after === undefined || after === '' || keyOf(item) > after)
    .slice(0, paging.size);
  const last = items.at(-1);
  return { items, next: last === undefined || items.length < paging.size ? undefined : keyOf(last) };
}
