import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError } from './errors.ts'
import { FIRST_INSTANT_MS, LAST_INSTANT_MS } from './instants.ts'
import { type PageRequest, readPage, toPage } from './pages.ts'

type Row = { createdAt: Date; id: string }

const position = (row: Row) => row

/** What a store does with a page request, in memory: newest first, ties by id, one row more than asked for. */
function read(rows: Row[], { limit, offset, after }: PageRequest): Row[] {
  const sorted = rows.toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? 1 : -1))
  const start = after ? sorted.findIndex((row) => isAfter(row, after)) : offset
  return start === -1 ? [] : sorted.slice(start, start + limit + 1)
}

function isAfter(row: Row, { createdAt, id }: Row): boolean {
  const difference = createdAt.getTime() - row.createdAt.getTime()
  return difference > 0 || (difference === 0 && row.id < id)
}

function walk(rows: Row[], limit: number): string[] {
  const ids: string[] = []
  let cursor: string | null = null
  do {
    const page: ReturnType<typeof toPage<Row>> = toPage(
      read(rows, readPage(cursor === null ? { limit } : { limit, cursor })),
      limit,
      position,
    )
    ids.push(...page.rows.map(({ id }) => id))
    cursor = page.nextCursor
  } while (cursor !== null)
  return ids
}

const someRows = fc.uniqueArray(
  fc.record({ createdAt: fc.integer({ min: 0, max: 5 }).map((ms) => new Date(ms)), id: fc.uuid() }),
  { selector: ({ id }) => id, maxLength: 40 },
)

describe('pages', () => {
  it('walked to the end give every row once, in order, however many share an instant', () => {
    fc.assert(
      fc.property(someRows, fc.integer({ min: 1, max: 7 }), (rows, limit) => {
        const inOrder = read(rows, { limit: rows.length, offset: 0, after: null }).map(({ id }) => id)
        expect(walk(rows, limit)).toEqual(inOrder)
      }),
    )
  })

  it('have no next one when the rows end with the page', () => {
    const rows = [{ createdAt: new Date(0), id: 'a' }]
    expect(toPage(rows, 1, position).nextCursor).toBeNull()
  })

  it('of no rows are empty, and the last', () => {
    expect(toPage([{ createdAt: new Date(0), id: 'a' }], 0, position)).toEqual({ rows: [], nextCursor: null })
  })

  it('start at the beginning with 50 rows when nothing is asked', () => {
    expect(readPage({})).toEqual({ limit: 50, offset: 0, after: null })
  })

  it('start at the given offset', () => {
    expect(readPage({ limit: 10, offset: 20 })).toEqual({ limit: 10, offset: 20, after: null })
  })

  it.each([FIRST_INSTANT_MS, -1, 0, LAST_INSTANT_MS])(
    'go on behind %s ms, as behind any instant that can be told',
    (ms) => {
      const cursor = toPage([row(ms, 'b'), row(ms, 'a')], 1, position).nextCursor ?? ''
      expect(readPage({ cursor }).after).toEqual(row(ms, 'b'))
    },
  )

  it('refuse a cursor together with an offset', () => {
    const cursor = toPage([row(2, 'b'), row(1, 'a')], 1, position).nextCursor ?? ''
    expect(() => readPage({ cursor, offset: 0 })).toThrow(AppError)
  })

  it.each([
    '',
    'x',
    '%00',
    Buffer.from('12 ').toString('base64url'),
    Buffer.from('-0 a').toString('base64url'),
    Buffer.from(`${FIRST_INSTANT_MS - 1} a`).toString('base64url'),
    Buffer.from(`${LAST_INSTANT_MS + 1} a`).toString('base64url'),
    Buffer.from('-9999999999999999 a').toString('base64url'),
    Buffer.from("1 a' or true").toString('base64url'),
    Buffer.from('999999999999999 a').toString('base64url'),
    Buffer.from('01 a').toString('base64url'),
    `${Buffer.from('1 a').toString('base64url')}=`,
  ])('refuse the cursor "%s", which is none of ours', (cursor) => {
    expect(() => readPage({ cursor })).toThrow(expect.objectContaining({ code: 'invalid_request' }))
  })

  it('refuse or read any text without failing otherwise', () => {
    fc.assert(
      fc.property(fc.base64String(), (text) => {
        const cursor = text.replaceAll('=', '')
        try {
          const { after } = readPage({ cursor })
          expect(Number.isNaN(after?.createdAt.getTime())).toBe(false)
        } catch (error) {
          expect(error).toBeInstanceOf(AppError)
        }
      }),
    )
  })
})

function row(ms: number, id: string): Row {
  return { createdAt: new Date(ms), id }
}
