import { expect, it } from 'vitest'
import { foundRow } from './found-row.ts'

it.each([
  { wanted: 'a', found: 'a', asked: [undefined] },
  { wanted: 'd', found: 'd', asked: [undefined, '1', '2'] },
  { wanted: 'z', found: undefined, asked: [undefined, '1', '2', '3'] },
])('looks for $wanted page by page, and no further', async ({ wanted, found, asked }) => {
  const parts = [['a'], ['b', 'c'], ['d', 'e'], []]
  const cursors: (string | undefined)[] = []
  const row = await foundRow(
    (each: string) => each === wanted,
    async ({ cursor }) => {
      cursors.push(cursor)
      const at = Number(cursor ?? 0)
      return { rows: parts[at] ?? [], next: at === 3 ? null : String(at + 1) }
    },
  )
  expect(row).toBe(found)
  expect(cursors).toEqual(asked)
})
