/** A page of a list: how many rows are asked for at most, and behind which. */
type PageQuery = { limit: number; cursor?: string }

/** As many as the service gives at once. */
const PAGE_ROWS = 500

/** The first row of a list that is the one, page by page until it is found; undefined when the list has none. */
export async function foundRow<Row>(
  isIt: (row: Row) => boolean,
  part: (query: PageQuery) => Promise<{ rows: Row[]; next: string | null }>,
): Promise<Row | undefined> {
  let query: PageQuery | null = { limit: PAGE_ROWS }
  while (query !== null) {
    const { rows, next }: { rows: Row[]; next: string | null } = await part(query)
    const row = rows.find(isIt)
    if (row !== undefined) return row
    query = next === null ? null : { limit: PAGE_ROWS, cursor: next }
  }
  return undefined
}
