/** A page of a list: how many rows are asked for at most, and behind which. */
type PageQuery = { limit: number; cursor?: string }

/** A page, and what asks for the next one. */
type PagePart<Row> = { rows: Row[]; next: string | null }

/** The rows of a list, `most` of them at most, as one: a page has fewer than were asked for where they are long. */
export async function allRows<Row>(most: number, part: (query: PageQuery) => Promise<PagePart<Row>>): Promise<Row[]> {
  const rows: Row[] = []
  let query: PageQuery | null = { limit: most }
  while (query !== null) {
    const { rows: further, next }: PagePart<Row> = await part(query)
    rows.push(...further)
    query = next === null || rows.length >= most ? null : { limit: most - rows.length, cursor: next }
  }
  return rows
}
