import { describe, expect, it } from 'vitest'
import { begunAnew } from './list-beginning.ts'
import type { ListPart } from './list-part.ts'

type Row = { id: number; text: string }

const rowsOf = (ids: number[], text = 'old') => ids.map((id) => ({ id, text }))
const keyOf = ({ id }: Row) => String(id)

/** A list with parts of three rows; a cursor is where the next part begins. */
function listOf(rows: Row[]) {
  const asked: (string | undefined)[] = []
  const part = async (cursor: string | undefined): Promise<ListPart<Row>> => {
    asked.push(cursor)
    const from = Number(cursor ?? 0)
    return { rows: rows.slice(from, from + 3), next: from + 3 < rows.length ? String(from + 3) : null }
  }
  return { part, asked }
}

const KNOWN: ListPart<Row>[] = [
  { rows: rowsOf([9, 8, 7]), next: '3' },
  { rows: rowsOf([6, 5, 4]), next: '6' },
  { rows: rowsOf([3, 2, 1]), next: null },
]
const textOf = (parts: ListPart<Row>[]) => parts.flatMap(({ rows }) => rows.map(({ id, text }) => `${id} ${text}`))

describe('the beginning of a list that is read again', () => {
  it('has what is new and what has changed, before the rest as it was known', async () => {
    const { part, asked } = listOf([
      ...rowsOf([10]),
      ...rowsOf([9, 8], 'changed'),
      ...rowsOf([7, 6, 5, 4, 3, 2, 1], 'unread'),
    ])
    const parts = await begunAnew(KNOWN, { part, keyOf })
    expect(textOf(parts)).toEqual([
      ...['10 old', '9 changed', '8 changed', '7 old', '6 old', '5 old', '4 old', '3 old', '2 old', '1 old'],
    ])
    expect([asked, parts.map(({ next }) => next)]).toEqual([[undefined], ['3', '6', null]])
    expect(parts.slice(1)).toEqual(KNOWN.slice(1))
  })

  it('is read on until it meets a row that was known', async () => {
    const { part, asked } = listOf(rowsOf([14, 13, 12, 11, 10, 9, 8, 7, 6]))
    expect(textOf(await begunAnew(KNOWN, { part, keyOf })).length).toBe(14)
    expect(asked).toEqual([undefined, '3'])
  })

  it('shows a row once that has moved there from further down', async () => {
    const { part } = listOf([...rowsOf([2], 'moved'), ...rowsOf([9, 8, 7, 6, 5, 4, 3, 1])])
    const ids = (await begunAnew(KNOWN, { part, keyOf })).flatMap(({ rows }) => rows.map(({ id }) => id))
    expect(ids).toEqual([2, 9, 8, 7, 6, 5, 4, 3, 1])
  })

  it('is all that there is when it meets nothing that was known, and when nothing is left', async () => {
    const { part, asked } = listOf(rowsOf(Array.from({ length: 30 }, (_each, at) => 100 - at)))
    const parts = await begunAnew(KNOWN, { part, keyOf })
    expect([parts.map(({ next }) => next), asked]).toEqual([
      ['3', '6', '9'],
      [undefined, '3', '6'],
    ])
    expect(await begunAnew(KNOWN, { part: listOf([]).part, keyOf })).toEqual([{ rows: [], next: null }])
  })
})
