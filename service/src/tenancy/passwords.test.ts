import { describe, expect, it } from 'vitest'
import { Passwords } from './passwords.ts'

const passwords = new Passwords()

describe('passwords', () => {
  it('are kept as argon2id with a salt of their own', async () => {
    const [first, second] = [
      await passwords.hash('correct horse battery'),
      await passwords.hash('correct horse battery'),
    ]
    expect(first).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
    expect(first).not.toBe(second)
    expect(await passwords.match('correct horse battery', first)).toBe(true)
    expect(await passwords.match('correct horse batterY', first)).toBe(false)
  })

  it('match nothing where there is none', async () => {
    expect(await passwords.match('', null)).toBe(false)
  })

  // From the reference implementation: echo -n password | argon2 somesalt -id -v 13 -t 2 -k 65536 -p 1 -l 32
  it('are read as others write them', async () => {
    const hash = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc'
    expect([await passwords.match('password', hash), await passwords.match('passwore', hash)]).toEqual([true, false])
  })

  it('are not compared with what is no hash', async () => {
    await expect(passwords.match('x', 'plain')).rejects.toThrow('not a hash')
  })

  it('are hashed a few at a time, and so many wait; more are turned away', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 40 }, () => passwords.hash('correct horse battery')))
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => reason)
    expect(refused).toHaveLength(6)
    expect(refused[0]).toMatchObject({ code: 'unavailable', headers: { 'retry-after': '5' } })
    expect(await passwords.match('', null)).toBe(false)
  })
})
