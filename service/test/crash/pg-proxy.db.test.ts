import type pg from 'pg'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { type Copy, copyTemplate } from '../harness/template.ts'
import { connectTo } from '../kill/test-database.ts'
import { KillTrap, type Moment } from './moments.ts'
import { type PgProxy, startPgProxy } from './pg-proxy.ts'

const template = inject('databaseTemplate')

describe.runIf(template.kind === 'server')('the proxy before PostgreSQL', () => {
  let copy: Copy
  let trap: KillTrap
  let proxy: PgProxy
  let direct: pg.Client
  let client: pg.Client
  let kills: number

  beforeEach(async () => {
    copy = await copyTemplate(template)
    trap = new KillTrap()
    kills = 0
    const url = copy.settings['DATABASE_URL'] ?? ''
    proxy = await startPgProxy(url, trap)
    direct = await connectTo(url)
    client = await connectTo(proxy.url)
    await client.query('create table things (name text)')
  })
  afterEach(async () => {
    client.removeAllListeners('end')
    await Promise.all([client.end().catch(() => {}), direct.end()])
    await proxy.close()
    await copy.remove()
  })

  function arm(isWanted: (moment: Moment) => boolean): void {
    const kill = (): void => {
      kills += 1
    }
    void trap.arm(isWanted, { times: 1, kill })
  }

  async function write(): Promise<void> {
    await client.query('begin')
    await client.query('insert into things values ($1)', ['one'])
    await client.query('commit')
  }

  const rows = async () => (await direct.query('select name from things')).rows

  it('passes everything on while nothing is waited for', async () => {
    await write()
    expect(await rows()).toEqual([{ name: 'one' }])
    await expect(client.query('select nothing')).rejects.toThrow('does not exist')
    expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  })

  it('knows a prepared statement each time that it is executed, before it is', async () => {
    const text = 'insert into things values ($1)'
    const insert = (name: string) => client.query({ name: 'thing', text, values: [name] })
    await insert('one')
    arm((moment) => moment.where === 'database' && moment.when === 'before' && moment.statement === text)
    await expect(insert('two')).rejects.toThrow()
    expect([kills, await rows()]).toEqual([1, [{ name: 'one' }]])
  })

  it('takes nothing while it is cut', async () => {
    proxy.cut()
    await expect(write()).rejects.toThrow()
    await expect(connectTo(proxy.url)).rejects.toThrow()
    proxy.mend()
    client = await connectTo(proxy.url)
    await write()
    expect(await rows()).toEqual([{ name: 'one' }])
  })

  it('shows a commit with what its transaction asked, and lets it through or not', async () => {
    const isCommit = (when: string) => (moment: Moment) =>
      moment.where === 'database' &&
      moment.when === when &&
      moment.statement === 'commit' &&
      moment.transaction.join() === 'begin,insert into things values ($1)'
    arm(isCommit('before'))
    await expect(write()).rejects.toThrow()
    expect([kills, await rows()]).toEqual([1, []])

    client = await connectTo(proxy.url)
    arm(isCommit('after'))
    await expect(write()).rejects.toThrow()
    expect([kills, await rows()]).toEqual([2, [{ name: 'one' }]])
  })

  it('shows a statement outside of a transaction without one', async () => {
    const seen: Moment[] = []
    arm((moment) => {
      seen.push(moment)
      return false
    })
    await client.query('insert into things values ($1)', ['two'])
    const moment = { where: 'database', statement: 'insert into things values ($1)', transaction: [] }
    expect(seen).toEqual([
      { ...moment, when: 'before' },
      { ...moment, when: 'after', rows: 1 },
    ])
  })
})
