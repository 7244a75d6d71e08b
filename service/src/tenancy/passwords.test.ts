import { describe, expect, it } from 'vitest'
import { hashPassword, passwordMatches } from './passwords.ts'

describe('passwords', () => {
  it('are kept as argon2id with a salt of their own', async () => {
    const [first, second] = [await hashPassword('correct horse battery'), await hashPassword('correct horse battery')]
    expect(first).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
    expect(first).not.toBe(second)
    expect(await passwordMatches('correct horse battery', first)).toBe(true)
    expect(await passwordMatches('correct horse batterY', first)).toBe(false)
  })

  it('match nothing where there is none', async () => {
    expect(await passwordMatches('', null)).toBe(false)
  })

  // From the reference implementation: echo -n password | argon2 somesalt -id -v 13 -t 2 -k 65536 -p 1 -l 32
  it('are read as others write them', async () => {
    const hash = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc'
    expect([await passwordMatches('password', hash), await passwordMatches('passwore', hash)]).toEqual([true, false])
  })

  it('are not compared with what is no hash', async () => {
    await expect(passwordMatches('x', 'plain')).rejects.toThrow('not a hash')
  })
})
