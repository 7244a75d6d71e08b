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
const passwords = new Passwords()
const PASSWORD = 'a long enough password'

describe('a person', () => {
  const test = useDatabase()
  let acme: TenantId
  beforeEach(async () => {
    acme = await makeTenant(test.db, 'acme')
  })

  it('is invited for a week and not a moment longer', async () => {
    const clock = new TestClock()
    const users = makeUsers({ db: test.db, clock, passwords })
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
    const users = makeUsers({ db: test.db, clock, passwords })
    const sessions = makeAdminSessions({ db: test.db, clock, credentials: '' })
    const logins = makeLogins({ db: test.db, clock, sessions, administrator: null, passwords })
    const person = { email: 'a@acme.example', name: '', role: 'viewer', password: PASSWORD } as const
    const { user } = await users.create(acme, person, THE_SYSTEM)
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
})
