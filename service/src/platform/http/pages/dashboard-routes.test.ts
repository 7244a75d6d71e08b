import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '../../../kernel/errors.ts'
import { testServer } from '../http.fixture.ts'
import { DashboardFiles } from './dashboard-files.ts'
import { dashboardRoutes } from './dashboard-routes.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dashboard-'))
})
afterEach(() => rm(folder, { recursive: true }))

async function built(): Promise<void> {
  await mkdir(join(folder, 'assets'))
  await writeFile(join(folder, 'index.html'), '<meta name="style-nonce" content="__STYLE_NONCE__"><p>Parley</p>')
  await writeFile(join(folder, 'assets', 'main-abc.js'), 'start()')
  await writeFile(join(folder, 'icon.svg'), '<svg/>')
  await writeFile(join(folder, '.built-from'), 'secret of the build')
}

/** Counts what counts for an address, and refuses from the fourth on. */
function served() {
  const counted: string[] = []
  const { server } = testServer()
  const files = new DashboardFiles(pathToFileURL(`${folder}/`))
  const asStranger = async ({ url }: { url: string }) => {
    counted.push(url)
    if (counted.length > 3) throw new AppError('rate_limited', 'Wait 7 s.', { headers: { 'retry-after': '7' } })
  }
  server.register(dashboardRoutes({ files, limits: { asStranger } }))
  const get = (url: string, headers = {}) => server.inject({ url, headers })
  return { get, counted }
}

describe('the dashboard', () => {
  it('says in a sentence that it is not built', async () => {
    const answer = await served().get('/app/')
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(answer.body).toContain('The dashboard is not built here: run <code>npm run build</code>')
    expect(answer.headers['content-security-policy']).not.toContain('nonce')
  })

  it('is one page at every address that is no file, which is asked for each time', async () => {
    await built()
    const { get } = served()
    for (const url of ['/app/', '/app/t/acme/calls?status=failed', '/app/login']) {
      const answer = await get(url)
      expect([url, answer.statusCode, answer.body.includes('Parley')]).toEqual([url, 200, true])
      expect([answer.headers['cache-control'], answer.headers.etag]).toEqual(['no-cache', undefined])
    }
    expect((await get('/app')).statusCode).toBe(429)
  })

  it('says in a page to whoever is in a browser that they have to wait, and to a program as all else does', async () => {
    await built()
    const { get } = served()
    for (const _time of [1, 2, 3]) await get('/app/')
    for (const url of ['/app/t/acme/calls', '/app']) {
      const answer = await get(url, { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' })
      expect([answer.statusCode, answer.headers['content-type']]).toEqual([429, 'text/html; charset=utf-8'])
      expect(answer.body).toContain('<p>Wait 7 s.</p>')
      expect(answer.body).toContain('<a href="">Load the page again</a>')
      expect([answer.headers['retry-after'], answer.headers['cache-control']]).toEqual(['7', 'no-store'])
      expect(answer.headers['content-security-policy']).toContain("default-src 'none'")
      expect((await get(url, { accept: '*/*' })).json()).toMatchObject({ code: 'rate_limited', error: 'Wait 7 s.' })
    }
  })

  it('has a policy that lets in files of its own, style sheets of this very answer, and speaks to this service alone', async () => {
    await built()
    const { get } = served()
    const [first, second] = [await get('/app/', { host: 'voice.example.com' }), await get('/app/')]
    const policy = String(first.headers['content-security-policy'])
    const [, nonce = ''] = /'nonce-([\w-]{22})'/.exec(policy) ?? []
    expect(first.body).toContain(`content="${nonce}"`)
    expect(second.body).not.toContain(nonce)
    expect(policy).toContain("script-src 'self';")
    expect(policy).not.toContain('unsafe')
    expect(policy).toContain("connect-src 'self' ws://voice.example.com wss://voice.example.com;")
    const odd = await get('/app/', { host: "x; script-src 'unsafe-inline'" })
    expect(String(odd.headers['content-security-policy'])).not.toContain('unsafe')
  })

  it('has files that are kept by their hashed names, and do not count', async () => {
    await built()
    const { get, counted } = served()
    const script = await get('/app/assets/main-abc.js')
    expect([script.body, script.headers['content-type']]).toEqual(['start()', 'text/javascript; charset=utf-8'])
    expect(script.headers['cache-control']).toBe('public, max-age=31536000, immutable')
    const icon = await get('/app/icon.svg')
    expect(icon.headers['cache-control']).toBe('no-cache')
    expect((await get('/app/icon.svg', { 'if-none-match': icon.headers.etag })).statusCode).toBe(304)
    expect(counted).toEqual([])
  })

  it.each(['/app/assets/main-old.js', '/app/assets/..%2f.built-from', '/app/assets/'])(
    'has no file %s',
    async (url) => {
      await built()
      const { get } = served()
      const answer = await get(url)
      expect([answer.statusCode, answer.json().ok]).toEqual([404, false])
    },
  )

  it('reads a file once, however many ask for it before it is there, and looks again for one that was not', async () => {
    const files = new DashboardFiles(pathToFileURL(`${folder}/`))
    expect(await files.file('assets/main-abc.js')).toBeNull()
    await built()
    const answers = await Promise.all(Array.from({ length: 20 }, () => files.file('assets/main-abc.js')))
    expect(new Set(answers).size).toBe(1)
    expect(answers[0]?.body.toString()).toBe('start()')
  })

  it('gives nothing of the disk away', async () => {
    await built()
    const { get } = served()
    for (const url of ['/app/.built-from', '/app/..%2f..%2fetc%2fpasswd', '/app/%2e%2e/package.json'])
      expect((await get(url)).body).not.toMatch(/secret|root:|"name"/)
  })

  it('stands below /app/', async () => {
    const answer = await served().get('/app')
    expect([answer.statusCode, answer.headers.location]).toEqual([302, '/app/'])
  })
})
