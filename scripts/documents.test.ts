import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { API_NOTES } from '../service/src/api-notes.ts'
import { ERROR_CODES } from '../service/src/kernel/errors.ts'
import { MAX_LIST_BYTES } from '../service/src/operators/do-not-call-lists.ts'
import { mediaStreamsCodec } from '../service/src/platform/telephony/twilio/codec.ts'
import { END_REASONS, TURN_ROLES } from '../service/src/records/call-values.ts'
import { ROLE_TABLE } from '../service/src/role-table.ts'

const ROOT = join(import.meta.dirname, '..')
const inDocs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
const PAGES = ['README.md', 'CONTRIBUTING.md', ...inDocs.map((name) => join('docs', name))].filter((name) =>
  name.endsWith('.md'),
)

/** A file beside the page, or an address of the service that shows it. */
const isThere = (page: string, link: string): boolean =>
  link.startsWith('/') ? `GET ${link}` in ROLE_TABLE : existsSync(join(ROOT, dirname(page), link))

/** Before it no installation had many rows. */
const FIRST_UPDATE = '0045'
/** They stay small, however many calls there are. */
const SMALL_TABLES = ['clips', 'session_scorings']
/** Only a line into somebody else's call is closed with it. */
const OF_A_TAKEOVER = 4409

/** Of migrations, also of those within a span such as `0080 to 0082`. */
function numbersIn(text: string): string[] {
  return [...text.matchAll(/\b(0\d{3})(?: to (0\d{3}))?/g)].flatMap(([, first = '', last = first]) =>
    Array.from({ length: Number(last) - Number(first) + 1 }, (_, n) => String(Number(first) + n).padStart(4, '0')),
  )
}

const read = (name: string): string => readFileSync(join(ROOT, name), 'utf8')

/** What the service is made of. */
function sources(): string[] {
  const files = readdirSync(join(ROOT, 'service/src'), { recursive: true, encoding: 'utf8' })
  return files.filter((name) => name.endsWith('.ts')).map((name) => read(join('service/src', name)))
}

describe('the documents', () => {
  it.each(PAGES)('%s links to no page that is not there', (page) => {
    const links = [...read(page).matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)].map(([, link = '']) => link)
    const inside = links.filter((link) => !/^[a-z]+:/.test(link))
    expect(inside.filter((link) => !isThere(page, link))).toEqual([])
  })

  it.each(PAGES)('%s names no command that is not there', (page) => {
    const { scripts }: { scripts: Record<string, string> } = JSON.parse(read('package.json'))
    const commands = [...read(page).matchAll(/\bnpm run ([a-z][a-z:-]*)/g)].map(([, name = '']) => name)
    expect(commands.filter((name) => !(name in scripts))).toEqual([])
  })

  it('name every command that there is, in the README or where it is told how to contribute', () => {
    const { scripts }: { scripts: Record<string, string> } = JSON.parse(read('package.json'))
    const commands = Object.keys(scripts).filter((name) => !(name.startsWith('pre') && name.slice(3) in scripts))
    const told = read('README.md') + read('CONTRIBUTING.md')
    const named = [...told.matchAll(/`npm (?:run )?([a-z][a-z:-]*)/g)].map(([, name]) => name)
    expect(commands.filter((name) => !named.includes(name))).toEqual([])
  })

  it('are all reached from the README', () => {
    const pages = PAGES.filter((page) => dirname(page) === 'docs')
    expect(pages.filter((page) => !read('README.md').includes(`](${page})`))).toEqual([])
  })

  it('have each decision in the list of them, by its heading', () => {
    const pages = PAGES.filter((page) => dirname(page) === 'docs/decisions' && basename(page) !== 'README.md')
    const rows = pages.map((page) => `[${read(page).split('\n')[0]?.slice('# '.length)}](${basename(page)})`)
    const list = read('docs/decisions/README.md')
    expect(rows.filter((row) => !list.includes(row))).toEqual([])
  })

  it('tell of every metric that is ours', () => {
    const making = sources().filter((source) => source.includes("from 'prom-client'"))
    const names = making.flatMap((source) =>
      [...source.matchAll(/(?:name: |counter\(\s*)'([a-z]+_[a-z_]+)',\s*(?:help: )?['"`A-Z]/g)].map(
        ([, name = '']) => name,
      ),
    )
    const ours = names.filter((name) => !name.startsWith('nodejs_'))
    expect(ours).toContain('voice_live_calls')
    expect(ours.filter((name) => !read('docs/deployment.md').includes(`\`${name}\``))).toEqual([])
  })

  it('tell of everything that is written into the audit log', () => {
    const lines = sources()
      .filter((source) => /\baudit\(/.test(source))
      .flatMap((source) => source.split('\n'))
    const writing = lines.filter((line) => /\baction\b|redelivered/.test(line))
    const actions = writing.flatMap((line) => [...line.matchAll(/'([a-z_]+\.[a-z_]+)'/g)].map(([, name]) => name))
    expect(actions).toContain('api_key.revoked')
    expect(actions.filter((name) => !read('docs/admin.md').includes(`\`${name}\``))).toEqual([])
  })

  it('give compose every value that it does not start without', () => {
    const needed = [...read('compose.yaml').matchAll(/\$\{([A-Z_]+):\?/g)].map(([, name]) => name)
    const written = [...read('docs/deployment.md').matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name)
    expect(written).toEqual(expect.arrayContaining(needed))
  })

  it('have each machine back up what it has alone where no other one deletes it', () => {
    const mirrored = [...read('docs/deployment.md').matchAll(/^rsync .*--delete .*$/gm)].map(([line]) => line)
    const ofOne = mirrored.filter((line) => /journal|event-logs/.test(line))
    expect(ofOne).toHaveLength(2)
    expect(ofOne.filter((line) => !line.endsWith('"/backups/parley/$(hostname)/"'))).toEqual([])
  })

  it('tell of each big table that cannot be written while an update builds an index of it', () => {
    const files = readdirSync(join(ROOT, 'service/migrations')).filter((name) => name >= FIRST_UPDATE)
    const indexed = files.flatMap((name) => {
      const text = read(join('service/migrations', name))
      const tables = [...text.matchAll(/^create (?:unique )?index \w+ on (\w+)/gm)].map(([, table = '']) => table)
      const big = tables.filter((table) => !text.includes(`create table ${table} `) && !SMALL_TABLES.includes(table))
      return big.map((table) => `${table} ${name.slice(0, 4)}`)
    })
    const told = [...read('docs/deployment.md').matchAll(/^\| (`\w+`(?:, `\w+`)*) \| (0\d{3}[^|]*)/gm)].flatMap(
      ([, cell = '', files = '']) =>
        [...cell.matchAll(/\w+/g)].flatMap(([table]) => numbersIn(files).map((number) => `${table} ${number}`)),
    )
    expect(told).toEqual(expect.arrayContaining(indexed))
  })

  it('have every code of an error, and every reason for which a session ended', () => {
    const rows = [...read('docs/errors.md').matchAll(/^\| (`[^|]+) \|/gm)].map(([, cell = '']) => cell)
    const told = rows.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, code]) => code))
    expect(told).toEqual(expect.arrayContaining([...ERROR_CODES, ...END_REASONS]))
  })

  it('say who may have spoken a turn of a transcript', () => {
    const [told = ''] = /^\| `role` \|.*$/m.exec(read('docs/outbound-calls.md')) ?? []
    const roles = [...told.matchAll(/`(\w+)`/g)]
      .map(([, name]) => name)
      .filter((name) => TURN_ROLES.some((role) => role === name))
    expect(roles.sort()).toEqual([...TURN_ROLES].sort())
  })

  it('have the places of the dashboard in their order', () => {
    const labels = [...read('dashboard/src/routes/navigation.ts').matchAll(/label: '([^']+)'/g)].map(
      ([, label]) => label,
    )
    const [, told = ''] = /The order of the navigation is: ([^.]+)\./.exec(read('docs/dashboard.md')) ?? []
    expect(told.replaceAll('\n', ' ').split(', ')).toEqual(labels)
  })

  it('have the proxy pass the largest body that the API takes', () => {
    const [, mebibytes] = /client_max_body_size (\d+)m;/.exec(read('docs/going-live.md')) ?? []
    expect(Number(mebibytes) * 1024 * 1024).toBeGreaterThan(MAX_LIST_BYTES)
  })

  it('show each message of a page as the service reads it', () => {
    const shown = [...read('docs/browser-calls.md').matchAll(/^\| `(\{"event": "(\w+)".*?\})` \|/gm)]
    const readAs = shown.map(([, text = '']) => mediaStreamsCodec.read(Buffer.from(text)).type)
    expect(readAs).toEqual(['start', 'media', 'dtmf', 'mark', 'stop'])
    expect(shown.map(([, , event]) => event)).toEqual(readAs)
  })

  it('say of each code that a page may be closed with what it means', () => {
    const [, ofPages] = read('docs/browser-calls.md').split('## The WebSocket')
    const closes = API_NOTES['streamMedia']?.socket?.closes ?? []
    const codes = closes.map(({ code }) => code).filter((code) => code !== OF_A_TAKEOVER)
    expect(codes).toHaveLength(8)
    for (const code of codes) expect(ofPages).toContain(String(code))
  })

  it('have the receiver of the example take webhooks as large as they may be', () => {
    const [, megabytes] = /bodies of up to (\d+) MB/.exec(read('docs/webhooks.md')) ?? []
    expect(read('client/README.md')).toContain(`express.raw({ type: 'application/json', limit: '${megabytes}mb' })`)
  })
})
