import { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { PgliteStatements } from './pglite-statements.ts'

let pglite: PGlite
let statements: PgliteStatements

beforeAll(async () => {
  pglite = await PGlite.create()
})
afterAll(() => pglite.close())

beforeEach(async () => {
  await pglite.exec(
    'rollback; deallocate all; drop table if exists things; create table things (id int primary key, name text)',
  )
  statements = new PgliteStatements(pglite)
})

/** What PostgreSQL has prepared, by its text. */
async function preparedTexts(): Promise<string[]> {
  const { rows } = await pglite.query<{ statement: string }>('select statement from pg_prepared_statements order by 1')
  return rows.map(({ statement }) => statement)
}

const NO_COLUMNS = { names: [], typeIds: [] }
const INSERT = '/* prepared: change */ insert into things values ($1, $2) returning *'

describe('a statement with parameters', () => {
  it('gives the same each time, whether it is prepared or not, and is prepared once', async () => {
    const results = []
    for (const id of ['1', '2', '3']) results.push(await statements.run(INSERT, [id, id === '2' ? null : 'a "thing"']))
    const columns = { names: ['id', 'name'], typeIds: [23, 25] }
    expect(results).toEqual([
      { command: 'INSERT', affectedRows: 1, columns, rows: [['1', 'a "thing"']] },
      { command: 'INSERT', affectedRows: 1, columns, rows: [['2', null]] },
      { command: 'INSERT', affectedRows: 1, columns, rows: [['3', 'a "thing"']] },
    ])
    expect(await preparedTexts()).toEqual([INSERT])
  })

  it('counts the rows that it found or changed, and has no columns where none come', async () => {
    await statements.run("insert into things values (1, 'a'), (2, 'b')", null)
    const changed = await statements.run('update things set name = $1', ['c'])
    expect(changed).toEqual({ command: 'UPDATE', affectedRows: 2, columns: NO_COLUMNS, rows: [] })
    const found = await statements.run('select id from things where name = $1 order by id', ['c'])
    expect(found).toMatchObject({ command: 'SELECT', affectedRows: 2, rows: [['1'], ['2']] })
  })

  it('fails with what PostgreSQL says, prepared or not, and is answered again afterwards', async () => {
    await statements.run(INSERT, ['1', 'a'])
    for (let time = 0; time < 3; time++) {
      await expect(statements.run(INSERT, ['1', 'a'])).rejects.toMatchObject({
        code: '23505',
        constraint: 'things_pkey',
      })
    }
    expect((await statements.run(INSERT, ['2', 'b'])).rows).toEqual([['2', 'b']])
  })

  it('is not prepared unless it is marked, for some have no plan for whatever values', async () => {
    await statements.run('create unique index on things (name) where id > 0', null)
    const insert = 'insert into things values ($1, $2) on conflict (name) where id > $3::int do nothing'
    for (let time = 0; time < 10; time++) await statements.run(insert, ['1', 'a', '0'])
    expect(await preparedTexts()).toEqual([])
  })

  it('fails each time that it cannot be prepared, with nothing left of it', async () => {
    const wrong = '/* prepared: call */ select from nothing_here where $1'
    for (let time = 0; time < 2; time++) {
      await expect(statements.run(wrong, ['t'])).rejects.toMatchObject({ code: '42P01' })
    }
    expect(await preparedTexts()).toEqual([])
  })
})

describe('a statement whose tables have changed since it was prepared', () => {
  const SELECT = '/* prepared: call */ select * from things where id = $1'

  beforeEach(async () => {
    await statements.run(INSERT, ['1', 'a'])
    for (let time = 0; time < 2; time++) await statements.run(SELECT, ['1'])
    await statements.run('alter table things add column more int', null)
  })

  it('is prepared anew', async () => {
    expect((await statements.run(SELECT, ['1'])).rows).toEqual([['1', 'a', null]])
  })

  it('fails in a transaction, which could not go on, and not in the next one', async () => {
    await statements.run('begin', null)
    await expect(statements.run(SELECT, ['1'])).rejects.toMatchObject({ code: '0A000' })
    await expect(statements.run(SELECT, ['1'])).rejects.toMatchObject({ code: '25P02' })
    await statements.run('rollback', null)
    await statements.run('begin', null)
    expect((await statements.run(SELECT, ['1'])).rows).toEqual([['1', 'a', null]])
    await statements.run('commit', null)
  })

  it.each(['deallocate all', 'discard all'])('is prepared anew after %s, also in a transaction', async (forgetting) => {
    await statements.run(forgetting, null)
    await statements.run('begin', null)
    expect((await statements.run(SELECT, ['1'])).rows).toEqual([['1', 'a', null]])
    await statements.run('commit', null)
  })
})

describe('several statements without parameters', () => {
  it('give the result of the last one', async () => {
    const result = await statements.run("insert into things values (1, 'a'); select id, name from things", null)
    expect(result).toMatchObject({ command: 'SELECT', affectedRows: 1, rows: [['1', 'a']] })
  })

  it('are all undone when one fails', async () => {
    await expect(statements.run("insert into things values (1, 'a'); select 1 / 0", null)).rejects.toMatchObject({
      code: '22012',
    })
    expect((await statements.run('select * from things', null)).rows).toEqual([])
  })

  it('are none for an empty text', async () => {
    expect(await statements.run('', null)).toEqual({ command: '', affectedRows: 0, columns: NO_COLUMNS, rows: [] })
  })
})
