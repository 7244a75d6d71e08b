import fc from 'fast-check'
import { CompiledQuery, sql } from 'kysely'
import pg from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { useDatabase } from '../../../test/harness/database.ts'
import { uniqueViolation } from './errors.ts'
import { PreparedNames, prepared } from './prepared.ts'

const test = useDatabase()

async function value(expression: ReturnType<typeof sql>): Promise<unknown> {
  const { rows } = await sql<{ value: unknown }>`select ${expression} as value`.execute(test.db)
  return rows[0]?.value
}

describe('what comes out of the database', () => {
  it.each([
    ['int8', sql`9007199254740991::int8`, Number.MAX_SAFE_INTEGER],
    ['a count', sql`(select count(*) from tenants)`, 0],
    ['numeric', sql`12.50::numeric`, 12.5],
    ['float8', sql`0.1::float8`, 0.1],
    ['boolean', sql`true`, true],
    ['timestamptz', sql`'2026-03-01 10:00:00.123+02'::timestamptz`, new Date('2026-03-01T08:00:00.123Z')],
    ['a full second', sql`'2026-03-01 08:00:00Z'::timestamptz`, new Date('2026-03-01T08:00:00Z')],
    ['a tenth of one', sql`'2026-03-01 08:00:00.1Z'::timestamptz`, new Date('2026-03-01T08:00:00.100Z')],
    ['a microsecond', sql`'2026-03-01 08:00:00.123456Z'::timestamptz`, new Date('2026-03-01T08:00:00.123Z')],
    ['an early year', sql`'0099-03-01 08:00:00Z'::timestamptz`, new Date('0099-03-01T08:00:00Z')],
    ['a year before all', sql`'0044-03-15 08:00:00Z BC'::timestamptz`, new Date('-000043-03-15T08:00:00Z')],
    ['a late year', sql`'12026-03-01 08:00:00Z'::timestamptz`, new Date('+012026-03-01T08:00:00Z')],
    ['never', sql`'infinity'::timestamptz`, Number.POSITIVE_INFINITY],
    ['date', sql`'2026-03-01'::date`, '2026-03-01'],
    ['timestamp', sql`'2026-03-01 10:00'::timestamp`, '2026-03-01 10:00:00'],
    ['bytea', sql`'\\x00ff'::bytea`, Buffer.from([0, 255])],
    ['jsonb', sql`'{"a": [1, null]}'::jsonb`, { a: [1, null] }],
    ['json null', sql`'null'::jsonb`, null],
    ['null', sql`null::int8`, null],
    ['uuid', sql`'019A0000-0000-7000-8000-000000000000'::uuid`, '019a0000-0000-7000-8000-000000000000'],
    ['text[]', sql`array['a', null, 'b"c,\\']`, ['a', null, 'b"c,\\']],
    ['int8[]', sql`array[1, null, 2]::int8[]`, [1, null, 2]],
    ['numeric[][]', sql`array[array[1.5], array[2]]`, [[1.5], [2]]],
    ['date[]', sql`array['2026-03-01'::date]`, ['2026-03-01']],
    ['timestamptz[]', sql`array['2026-03-01T00:00Z'::timestamptz]`, [new Date('2026-03-01T00:00:00Z')]],
    ['the time zone', sql`current_setting('timezone')`, 'UTC'],
    ['that statements are not compiled', sql`pg_jit_available()`, false],
  ])('%s is the same value on both databases', async (_name, expression, expected) => {
    expect(await value(expression)).toStrictEqual(expected)
  })

  it('refuses an int8 that a number cannot hold, rather than change it', async () => {
    await expect(value(sql`9007199254740993::int8`)).rejects.toThrow(RangeError)
    expect(await value(sql`1`)).toBe(1)
  })

  it('may be ten thousand rows, or a megabyte in one', async () => {
    const { rows } = await sql`select n, repeat('x', 100) as text from generate_series(1, 10000) n`.execute(test.db)
    expect(rows).toHaveLength(10_000)
    expect(await value(sql`repeat('é', 500000)`)).toBe('é'.repeat(500_000))
  })
})

describe('what goes into the database', () => {
  it.each([
    ['a Date', sql`${new Date('2026-03-01T08:00:00.123Z')}::timestamptz`, new Date('2026-03-01T08:00:00.123Z')],
    [
      'a year before all',
      sql`${new Date('-000043-03-15T08:00:00.001Z')}::timestamptz`,
      new Date('-000043-03-15T08:00:00.001Z'),
    ],
    ['the year before 1', sql`${new Date('0000-12-31T00:00:00Z')}::timestamptz`, new Date('0000-12-31T00:00:00Z')],
    ['the year 1', sql`${new Date('0001-01-01T00:00:00Z')}::timestamptz`, new Date('0001-01-01T00:00:00Z')],
    ['a late year', sql`${new Date('+010000-01-01T00:29:00Z')}::timestamptz`, new Date('+010000-01-01T00:29:00Z')],
    ['bytes', sql`${Buffer.from([0, 1, 255])}::bytea`, Buffer.from([0, 1, 255])],
    ['a Uint8Array within another', sql`${new Uint8Array([9, 8, 7]).subarray(1)}::bytea`, Buffer.from([8, 7])],
    ['an object', sql`${{ a: 'b' }}::jsonb`, { a: 'b' }],
    ['JSON text of an array', sql`${JSON.stringify([1, 'a'])}::jsonb`, [1, 'a']],
    ['a boolean', sql`${false}::boolean`, false],
    ['a bigint', sql`${123n}::int8`, 123],
    ['undefined', sql`${undefined}::text`, null],
    ['an empty array', sql`${[]}::text[]`, []],
    ['an array of dates', sql`${[new Date(0), null]}::timestamptz[]`, [new Date(0), null]],
    ['an array of bytes', sql`${[Buffer.from('é')]}::bytea[]`, [Buffer.from('é')]],
    ['nested arrays', sql`${[[1], [2]]}::int4[][]`, [[1], [2]]],
  ])('%s is understood alike by both databases', async (_name, expression, expected) => {
    expect(await value(expression)).toStrictEqual(expected)
  })

  it('keeps every text as it was, alone, in an array and in a document', async () => {
    // PostgreSQL's text has no NUL, and neither has its jsonb.
    const text = fc.string({ unit: 'grapheme' }).filter((string) => !string.includes('\0'))
    await fc.assert(
      fc.asyncProperty(text, fc.array(text, { minLength: 1 }), async (one, many) => {
        const { rows } = await sql<Record<string, unknown>>`
          select ${one}::text as one, ${many}::text[] as many, ${{ one, many }}::jsonb as document`.execute(test.db)
        expect(rows).toStrictEqual([{ one, many, document: { one, many } }])
      }),
      { numRuns: 50 },
    )
  })

  it('counts the rows that a statement touched', async () => {
    await sql`insert into installation_marks (mark) values ('a'), ('b')`.execute(test.db)
    const result = await sql`update installation_marks set made_at = now()`.execute(test.db)
    expect(result.numAffectedRows).toBe(2n)
  })

  it('may be several statements when there are no parameters; the last one answers', async () => {
    const { rows } = await sql`
      insert into installation_marks (mark) values ('a');
      select mark from installation_marks`.execute(test.db)
    expect(rows).toEqual([{ mark: 'a' }])
  })
})

describe('errors of SQL', () => {
  it('say so when a statement was given too few values, which a pooler says of a database that is away', async () => {
    const short = CompiledQuery.raw('select $1::int4, $2::int4', [1])
    await expect(test.db.executeQuery(short)).rejects.toMatchObject({ code: '08P01', routine: 'exec_bind_message' })
  })

  beforeAll(async () => {
    await sql`create table parents (name text constraint parents_name primary key)`.execute(test.db)
    await sql`create table children (parent text constraint children_parent references parents)`.execute(test.db)
  })

  it('keep what PostgreSQL said of them', async () => {
    await sql`insert into parents values ('a')`.execute(test.db)
    const error = await sql`insert into parents values (${'a'})`.execute(test.db).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(pg.DatabaseError)
    expect(error).toMatchObject({
      code: '23505',
      constraint: 'parents_name',
      table: 'parents',
      schema: 'public',
      detail: 'Key (name)=(a) already exists.',
      severity: 'ERROR',
    })
  })

  it('name the unique constraint that a statement would have broken', async () => {
    const missing = await sql`insert into children values ('b')`.execute(test.db).catch((thrown: unknown) => thrown)
    expect(uniqueViolation(missing)).toBeNull()
    await sql`insert into parents values ('b')`.execute(test.db)
    const double = await sql`insert into parents values ('b')`.execute(test.db).catch((thrown: unknown) => thrown)
    expect(uniqueViolation(double)).toBe('parents_name')
  })

  it('do not carry the parameters, which may be secret', async () => {
    const error = await sql`select ${'swordfish'}::int4 / 0`.execute(test.db).catch((thrown: unknown) => thrown)
    const { message, ...rest } = error as Error
    expect(message).toContain('invalid input syntax')
    expect(JSON.stringify(rest)).not.toContain('swordfish')
  })

  it('leave the connection fit for the next statement', async () => {
    await expect(sql`select nonsense`.execute(test.db)).rejects.toMatchObject({ code: '42703' })
    expect(await value(sql`1`)).toBe(1)
  })

  it('say that rows cannot be streamed', async () => {
    const rows = test.db.selectFrom('schema_migrations').selectAll().stream()
    await expect(rows.next()).rejects.toThrow(/cursor/)
  })
})

describe('a statement that is prepared', () => {
  const twice = (value: number) => prepared('call', sql<{ twice: number }>`select ${value}::integer * 2 as twice`)

  it('is read once by each connection, and answers for the values of each time', async () => {
    const { answers, known } = await test.db.connection().execute(async (db) => {
      const found = []
      for (const value of [1, 2, 3]) found.push(...(await twice(value).execute(db)).rows)
      const { rows } = await sql<{ name: string; statement: string }>`
        select name, statement from pg_prepared_statements where statement like '%as twice'`.execute(db)
      return { answers: found.map((row) => row.twice), known: rows }
    })
    expect(answers).toEqual([2, 4, 6])
    expect(known.map(({ name }) => name)).toEqual([expect.stringMatching(/^parley_call_\d+$/)])
  })

  it('fails as any other does, and the connection serves the next one', async () => {
    const broken = (divisor: number) => prepared('call', sql`select 1 / ${divisor}::integer as share`).execute(test.db)
    for (const _ of [1, 2]) await expect(broken(0)).rejects.toThrow('division by zero')
    expect((await broken(1)).rows).toEqual([{ share: 1 }])
  })
})

describe('names of prepared statements', () => {
  it('are one for each text that is marked, sixty of a kind, and leave those of other kinds their own', () => {
    const names = new PreparedNames()
    const marked = (n: number) => names.nameOf(`/* prepared: search */ select ${n}`)
    const given = Array.from({ length: 61 }, (_, n) => marked(n))
    expect(new Set(given).size).toBe(61)
    expect([given[60], marked(7), names.nameOf('select 7')]).toEqual([undefined, given[7], undefined])
    expect(names.nameOf('/* prepared: call */ select 7')).toBe('parley_call_1')
  })
})
