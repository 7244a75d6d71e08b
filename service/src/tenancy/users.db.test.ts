import { beforeEach, describe, expect, it } from 'vitest'
import { TestClock } from '../../test/harness/clock.ts'
import { useDatabase } from '../../test/harness/database.ts'
import { makeTenant } from '../../test/harness/tenants.ts'
import { THE_SYSTEM } from '../kernel/actor.ts'
import type { TenantId } from '../kernel/ids.ts'
import { sha256 } from '../kernel/seal.ts'
import { makeAdminSessions } from './admin-sessions.ts'
import { makeLogins } from './logins.ts'
import { Passwords } from './passwords.ts'
import { makeUsers } from './users.ts'

const DAY_MS = 24 * 3_600_000
const MINUTE_MS = 60_000
const passwords = new Passwords()
const PASSWORD = 'a long enough password'

describe('a person', () => {
  const test = useDatabase()
  let acme: TenantId
  beforeEach(async () => {
    acme = await makeTenant(test.db, 'acme')
  })

  /** Somebody who may look, and what lets them in. */
  async function someViewer(clock: TestClock) {
    const users = makeUsers({ db: test.db, clock, passwords, onChange: () => {} })
    const sessions = makeAdminSessions({ db: test.db, clock, credentials: '' })
    const logins = makeLogins({ db: test.db, clock, sessions, administrator: null, passwords })
    const person = { email: 'a@acme.example', name: '', role: 'viewer', password: PASSWORD } as const
    const { user } = await users.create(acme, person, THE_SYSTEM)
    return { users, sessions, logins, user }
  }

  it('is invited for a week and not a moment longer', async () => {
    const clock = new TestClock()
    const users = makeUsers({ db: test.db, clock, passwords, onChange: () => {} })
    const invited = async (email: string) => {
      const person = { email, name: '', role: 'viewer', password: null } as const
      return (await users.create(acme, person, THE_SYSTEM)).invitation ?? ''
    }
    const [first, second] = [await invited('a@acme.example'), await invited('b@acme.example')]
    await clock.advance(7 * DAY_MS - 1)
    expect((await users.accept(first, PASSWORD)).email).toBe('a@acme.example')
    await clock.advance(1)
    await expect(users.accept(second, PASSWORD)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('lets nobody in whose password was changed, or who was deleted, while they proved who they are', async () => {
    const clock = new TestClock()
    const { users, logins, user } = await someViewer(clock)
    expect(await logins.letIn(user, null)).toMatchObject({ actor: { name: 'a@acme.example' } })
    await users.change(acme, user.id, { password: 'another long password' }, THE_SYSTEM)
    await expect(logins.letIn(user, null)).rejects.toMatchObject({ code: 'unauthorized' })
    await users.remove(acme, user.id, THE_SYSTEM)
    await expect(logins.letIn(user, null)).rejects.toMatchObject({ code: 'unauthorized' })
  })

  it('is turned away where too many log in at once, and the administrator is not', async () => {
    const clock = new TestClock()
    const sessions = makeAdminSessions({ db: test.db, clock, credentials: '' })
    const busy = new Passwords({ atOnce: 0, waiting: 0 })
    const administrator = { username: 'root', passwordSha256: sha256(PASSWORD).toString('hex') }
    const logins = makeLogins({ db: test.db, clock, sessions, administrator, passwords: busy })
    const login = (username: string, password: string) =>
      logins.login({ username, password, ip: '192.0.2.1', previous: null })
    await expect(login('a@acme.example', PASSWORD)).rejects.toMatchObject({ code: 'unavailable' })
    await expect(login('root', 'a wrong password')).rejects.toMatchObject({ code: 'unavailable' })
    expect(await login('root', PASSWORD)).toMatchObject({ actor: { kind: 'administrator' } })
  })

  it('has not failed to log in when nobody had the time to look, unless they guess at the administrator', async () => {
    const clock = new TestClock()
    const sessions = makeAdminSessions({ db: test.db, clock, credentials: '' })
    const administrator = { username: 'root', passwordSha256: sha256(PASSWORD).toString('hex') }
    const at = (bounds: ConstructorParameters<typeof Passwords>[0]) =>
      makeLogins({ db: test.db, clock, sessions, administrator, passwords: new Passwords(bounds) })
    const [busy, idle] = [at({ atOnce: 0, waiting: 0 }), at({ atOnce: 1, waiting: 1 })]
    const users = makeUsers({ db: test.db, clock, passwords, onChange: () => {} })
    const email = 'a@acme.example'
    await users.create(acme, { email, name: '', role: 'viewer', password: PASSWORD }, THE_SYSTEM)
    const asked = (username: string, password = PASSWORD) => ({ username, password, ip: '192.0.2.1', previous: null })
    for (let n = 0; n < 11; n += 1)
      await expect(busy.login(asked(email))).rejects.toMatchObject({ code: 'unavailable' })
    expect(await idle.login(asked(email))).toMatchObject({ actor: { name: email } })
    for (let n = 0; n < 10; n += 1)
      await expect(busy.login(asked('root', 'a wrong password'))).rejects.toMatchObject({ code: 'unavailable' })
    await expect(idle.login(asked(email))).rejects.toMatchObject({ code: 'rate_limited' })
  })

  it('has a session of twelve hours, and of half an hour without use, which no look is', async () => {
    const clock = new TestClock()
    const { sessions, logins, user } = await someViewer(clock)
    const isIn = async (token: string, isLook = false) =>
      (await sessions.find(token, { isLook, mayAsk: () => true })) !== null

    const idle = await logins.letIn(user, null)
    clock.skip(20 * MINUTE_MS)
    expect(await isIn(idle.token)).toBe(true)
    clock.skip(20 * MINUTE_MS)
    expect(await isIn(idle.token, true)).toBe(true)
    clock.skip(10 * MINUTE_MS)
    expect([await isIn(idle.token, true), await isIn(idle.token)]).toEqual([false, false])

    const busy = await logins.letIn(user, null)
    for (let n = 0; n < 35; n += 1) {
      clock.skip(20 * MINUTE_MS)
      expect(await isIn(busy.token)).toBe(true)
    }
    clock.skip(20 * MINUTE_MS)
    expect(await isIn(busy.token)).toBe(false)
  })
})
