import { expect, it } from 'vitest'
import { allRows } from './all-rows.ts'

it.each([
  { most: 4, asked: [4, 3, 1], rows: ['a', 'b', 'c', 'd'] },
  { most: 9, asked: [9, 8, 6], rows: ['a', 'b', 'c', 'd', 'e'] },
])('reads a list of short pages to its end, or to $most rows', async ({ most, asked, rows }) => {
  const parts = [['a'], ['b', 'c'], ['d', 'e']]
  const limits: number[] = []
  const read = await allRows(most, async ({ limit, cursor }) => {
    limits.push(limit)
    const at = cursor === undefined ? 0 : Number(cursor)
    return { rows: (parts[at] ?? []).slice(0, limit), next: at === 2 ? null : String(at + 1) }
  })
  expect(read).toEqual(rows)
  expect(limits).toEqual(asked)
})
