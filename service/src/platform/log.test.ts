import { execFile } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { AppError } from '../kernel/errors.ts'
import { type LogLevel, makeLog } from './log.ts'

type Options = { level?: LogLevel; secrets?: string[] }

function logging({ level = 'debug', secrets = [] }: Options = {}) {
  const lines: string[] = []
  const log = makeLog({ level, secrets, destination: { write: (line) => lines.push(line) } })
  return { log, text: () => lines.join(''), lines: () => lines.map((line) => JSON.parse(line)) }
}

describe('a line of the log', () => {
  it('is JSON with the time, the level as a word, the fields and the message', () => {
    const { log, lines, text } = logging()
    log.info({ calls: 3 }, 'calls counted')
    log.warn('short of memory')
    expect(lines()).toEqual([
      {
        level: 'info',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        calls: 3,
        msg: 'calls counted',
      },
      { level: 'warn', time: expect.any(String), msg: 'short of memory' },
    ])
    expect(text()).toMatch(/^\{.*\}\n\{.*\}\n$/)
  })

  it('tells the time by the clock that it is given', () => {
    const lines: string[] = []
    const destination = { write: (line: string) => lines.push(line) }
    makeLog({ level: 'info', secrets: [], destination, now: () => 0 })
      .child({ n: 1 })
      .info('x')
    expect(JSON.parse(lines.join(''))).toMatchObject({ time: '1970-01-01T00:00:00.000Z', n: 1 })
  })

  it('carries the fields of the child that wrote it', () => {
    const { log, lines } = logging()
    log.child({ request_id: 'r1' }).child({ tenant_id: 'acme' }).error('refused')
    expect(lines()[0]).toMatchObject({ level: 'error', request_id: 'r1', tenant_id: 'acme', msg: 'refused' })
  })

  it.each<[LogLevel, string[]]>([
    ['debug', ['debug', 'info', 'warn', 'error', 'fatal']],
    ['warn', ['warn', 'error', 'fatal']],
    ['silent', []],
  ])('at level %s is written for %j', (level, written) => {
    const { log, lines } = logging({ level })
    for (const method of ['debug', 'info', 'warn', 'error', 'fatal'] as const) log[method]('x')
    expect(lines().map((line) => line.level)).toEqual(written)
  })

  it('stays JSON whatever its fields hold', () => {
    const { log, lines } = logging({ secrets: ['back\\slash"quote'] })
    const texts = [
      '"\\',
      '?token=a\\"b',
      'a\u0000b\u2028c',
      'back\\slash"quote',
      '\ud800',
      '://u:p\\@h',
      'line\nsk-0123456789',
    ]
    for (const text of texts) log.info({ [text]: text, list: [text, { text }] }, 'x')
    expect(lines()).toHaveLength(texts.length)
    expect(JSON.stringify(lines())).not.toMatch(/slash|0123456789/)
  })

  it('may hold a number too big for JSON, a cycle, a function or nothing', () => {
    const { log, lines } = logging()
    const cycle: Record<string, unknown> = {}
    cycle['self'] = cycle
    log.info({ big: 10n ** 30n, cycle, call: () => 1, none: undefined, nan: Number.NaN }, 'x')
    expect(lines()[0]).toMatchObject({ msg: 'x', nan: null })
  })
})

describe('what no line holds', () => {
  it('is personal data, at any depth and in a child', () => {
    const { log, lines, text } = logging()
    log.child({ pii: { name: 'Ada' } }).info({ pii: { transcript: 'my name is Ada' }, call: { pii: 'Ada' } }, 'x')
    expect(text()).not.toContain('Ada')
    expect(lines()[0]).toMatchObject({ pii: '[redacted]', call: { pii: '[redacted]' } })
  })

  it('is a field named for a credential', () => {
    const { log, text } = logging()
    const names = [
      'authorization',
      'Cookie',
      'set-cookie',
      'x-admin-key',
      'password',
      'auth_token',
      'authToken',
      'apiKey',
      'webhook_secret',
      'STREAM_TOKEN_SECRET',
      'encryption_key',
    ]
    for (const name of names) log.info({ [name]: 'swordfish', nested: [{ [name]: 'swordfish' }] }, 'x')
    expect(text()).not.toContain('swordfish')
  })

  it('is a given secret, wherever it stands and also as in a URL', () => {
    const secret = 'sword/fish + 9'
    const { log, text } = logging({ secrets: [secret, 'abc', ''] })
    const error = new Error(`cannot use ${secret}`, { cause: new Error(encodeURIComponent(secret)) })
    log
      .child({ at: secret })
      .error({ [secret]: 1, list: [`<${secret}>`], url: encodeURIComponent(secret), err: error }, `x ${secret}`)
    expect(text()).not.toMatch(/sword|fish/)
    log.info({ word: 'abc' }, 'x')
    expect(text()).toContain('"abc"')
  })

  it('is a longer secret of which a shorter one is a part', () => {
    const { log, text } = logging({ secrets: ['secret-one', 'secret-one-and-more'] })
    log.info({ value: 'secret-one-and-more' }, 'x')
    expect(text()).not.toContain('more')
  })

  it('is a whole phone number, in a text or in a field that is named for one', () => {
    const { log, lines, text } = logging()
    log.info(
      { to: '+14155550100', from: '14155550111', customer_phone: '(415) 555-0122', note: 'rang +14155550133' },
      'x',
    )
    expect(text()).not.toMatch(/415|5550/)
    expect(lines()[0]).toMatchObject({ to: '+*******0100', from: '*******0111' })
  })

  it('is not a state, a date or a count that stands in such a field', () => {
    const { log, lines } = logging()
    const fields = { from: 'claimed', to: 'open', caller: 'anonymous', number: 12, phone: null }
    log.info({ ...fields, period: { from: '2026-01-01', to: '2026-01-31T09:05:00.000Z' } }, 'x')
    expect(lines()[0]).toMatchObject({ ...fields, period: { from: '2026-01-01', to: '2026-01-31T09:05:00.000Z' } })
  })

  it('is a canary: 20 planted secrets and numbers, each in a message, a field, a list, a child and an error', () => {
    const secrets = Array.from({ length: 10 }, (_, index) => `canary-secret-${index}-${'x'.repeat(index)}`)
    const numbers = Array.from({ length: 10 }, (_, index) => `+1415555${1000 + index}`)
    const { log, text } = logging({ secrets })
    for (const canary of [...secrets, ...numbers]) {
      const error = Object.assign(new Error(`failed for ${canary}`), {
        detail: canary,
        headers: { x: canary },
        body: canary,
      })
      log.child({ tag: canary }).warn({ err: error, list: [canary], deep: { a: { b: canary } } }, `seen ${canary}`)
    }
    expect([...secrets, ...numbers].filter((canary) => text().includes(canary))).toEqual([])
    expect(text().split('\n')).toHaveLength(21)
  })
})

describe('an error in the log', () => {
  it('is told by name, code, message, stack and causes', () => {
    const { log, lines } = logging()
    const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    log.error({ err: new TypeError('no database', { cause }) }, 'start failed')
    expect(lines()[0].err).toEqual({
      name: 'TypeError',
      message: 'no database',
      stack: expect.stringContaining('log.test.ts'),
      cause: { name: 'Error', code: 'ECONNREFUSED', message: 'connect ECONNREFUSED', stack: expect.any(String) },
    })
  })

  it('tells nothing else that a driver or a client hung on it, under whatever name it is logged', () => {
    const { log, text } = logging()
    const driver = Object.assign(new Error('duplicate key'), {
      code: '23505',
      detail: 'Key (email)=(ada) exists',
      where: 'swordfish',
      parameters: ['swordfish'],
      config: { headers: { authorization: 'swordfish' } },
      response: { body: 'swordfish' },
    })
    log.error({ err: driver }, 'x')
    log
      .child({ reason: driver })
      .child({ a: 1 })
      .error({ problem: driver, deep: { list: [driver] } }, 'x')
    expect(text()).toContain('23505')
    expect(text()).not.toMatch(/swordfish|ada/)
  })

  it('of ours is told with the detail that is for operators', () => {
    const { log, lines } = logging()
    log.error({ err: new AppError('unavailable', 'Try later.', { detail: 'pool exhausted' }) }, 'x')
    expect(lines()[0].err).toMatchObject({ name: 'AppError', code: 'unavailable', detail: 'pool exhausted' })
  })

  it('that holds several is told with the first five', () => {
    const { log, lines } = logging()
    const errors = Array.from({ length: 9 }, (_, index) => new Error(`part ${index}`))
    log.error({ err: new AggregateError(errors, 'all failed') }, 'x')
    expect(lines()[0].err.errors.map(({ message }: Error) => message)).toEqual([
      'part 0',
      'part 1',
      'part 2',
      'part 3',
      'part 4',
    ])
  })

  it('that is its own cause is told to a certain depth', () => {
    const { log, text } = logging()
    const error: Error = new Error('round')
    error.cause = error
    log.error({ err: error }, 'x')
    expect(text().match(/"message":"round"/g)).toHaveLength(6)
  })

  it.each(['swordfish', { password: 'swordfish' }, null, undefined, 7])(
    'that is none is told by its type: %j',
    (thrown) => {
      const { log, lines, text } = logging()
      log.error({ err: thrown }, 'x')
      expect(text()).not.toContain('swordfish')
      expect(lines()[0].err).toEqual({ name: 'NotAnError', message: `a ${typeof thrown} was thrown` })
    },
  )
})

describe('the standard output', () => {
  it('gets every line, also those before a process ends at once', async () => {
    const program = `
      import { makeLog } from '${new URL('log.ts', import.meta.url)}'
      const log = makeLog({ level: 'info', secrets: [] })
      for (let line = 0; line < 1000; line += 1) log.info({ line }, 'x')
      log.fatal('the end')
      process.exit(3)`
    const { code, stdout } = await run(['--input-type=module', '--eval', program])
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect([code, lines.length, lines.at(-1).msg]).toEqual([3, 1001, 'the end'])
  })
})

function run(args: string[]): Promise<{ code: number; stdout: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, args, { maxBuffer: 10 * 1024 * 1024 }, (_error, stdout) => {
      resolve({ code: child.exitCode ?? -1, stdout })
    })
  })
}
