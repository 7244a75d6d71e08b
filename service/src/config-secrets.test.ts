import { describe, expect, it } from 'vitest'
import { readConfig } from './config.ts'
import { secretsOf } from './config-secrets.ts'
import { makeLog } from './platform/log.ts'

const KEY = Buffer.alloc(32, 7).toString('base64')

function logged(settings: Record<string, string>, text: string): string {
  const lines: string[] = []
  const secrets = secretsOf(readConfig({ ENCRYPTION_KEY: KEY, ...settings }))
  makeLog({ level: 'info', secrets, destination: { write: (line) => void lines.push(line) } }).info({ text }, 'x')
  return JSON.parse(lines.join('')).text
}

describe('secretsOf', () => {
  it.each([
    ['DATABASE_URL', 'postgres://parley:swordfish@db:5432/parley', 'swordfish'],
    ['DATABASE_URL', 'postgres://parley:sword%40fish@db:5432/parley', 'sword@fish'],
    ['DATABASE_URL', 'postgres://parley:sword%40fish@db:5432/parley', 'sword%40fish'],
    ['DATABASE_URL', 'postgres://parley@db:5432/parley?password=swordfish', 'swordfish'],
    ['REDIS_URL', 'redis://parley:sword%40fish@redis:6379', 'sword@fish'],
  ])('has the log hide the password of %s, %s, where a driver words it as %s', (name, address, password) => {
    expect(logged({ [name]: address }, `it was ${password} that was given`)).toBe('it was *** that was given')
  })

  it('leaves the word alone that is the user of the database as well as its password', () => {
    const DATABASE_URL = 'postgres://parley:parley@db:5432/parley'
    expect(logged({ DATABASE_URL }, 'role parley does not exist')).toBe('role parley does not exist')
  })

  it('has the log hide the token that is the user of a mail server as well as its password', () => {
    const NOTIFY_SMTP_URL = 'smtp://swordfish:swordfish@mail.example.com:587'
    const settings = { NOTIFY_SMTP_URL, NOTIFY_FROM: 'a@example.com', NOTIFY_TO: 'b@example.com' }
    expect(logged(settings, 'given swordfish')).toBe('given ***')
  })

  it.each(['ADMIN_API_KEY', 'ADMIN_PASSWORD', 'STREAM_TOKEN_SECRET', 'OPENAI_API_KEY', 'SECONDARY_AUDIO_API_KEY'])(
    'has the log hide %s',
    (name) => {
      const settings = { [name]: 'a-long-swordfish-1', ...(name === 'ADMIN_PASSWORD' && { ADMIN_USERNAME: 'ada' }) }
      expect(logged(settings, 'given a-long-swordfish-1')).toBe('given ***')
    },
  )
})
