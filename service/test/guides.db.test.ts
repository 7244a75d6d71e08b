import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useDatabase } from './harness/database.ts'
import { ServedApp } from './harness/served-app.ts'

const test = useDatabase()
let served: ServedApp
/** The HTML of every page that can be reached from the hub, by its path. */
const pages = new Map<string, string>()

beforeAll(async () => {
  served = await ServedApp.start(test)
  const left = ['/docs', '/swagger-ui']
  for (let path = left.pop(); path !== undefined; path = left.pop()) {
    if (pages.has(path)) continue
    const response = await fetch(served.address + path)
    if (response.status !== 200) throw new Error(`${path}: ${response.status}`)
    pages.set(path, await response.text())
    left.push(
      ...linksIn(path)
        .map(({ page }) => page)
        .filter((page) => /^\/(docs|getting-started)/.test(page)),
    )
  }
})
afterAll(() => served.app.close())

function linksIn(path: string): { page: string; anchor: string | undefined }[] {
  const hrefs = [...(pages.get(path) ?? '').matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, href = '']) => href)
  const inside = hrefs.filter((href) => href.startsWith('/') || href.startsWith('#'))
  return inside.map((href) => {
    const [page, anchor] = href.split('#')
    return { page: page || path, anchor }
  })
}

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(served.address + path, { redirect: 'manual', headers })

describe('the guides', () => {
  it('are all reached from the hub, and lead to no page and no heading that is not there', () => {
    expect(pages.size).toBeGreaterThan(20)
    const broken = [...pages.keys()].flatMap((path) =>
      linksIn(path).filter(({ page, anchor }) => {
        if (page.startsWith('/api-docs/') || page === '/swagger-ui' || page === '/app/') return false
        return anchor === undefined ? !pages.has(page) : !pages.get(page)?.includes(`id="${anchor}"`)
      }),
    )
    expect(broken).toEqual([])
  })

  it('are called in the hub by their headings, and say there what they are about', () => {
    const cards = [...(pages.get('/docs') ?? '').matchAll(/<li><a [^>]*><strong>([^<]*)<\/strong>([^<]*)<\/a>/g)]
    expect(cards.length).toBeGreaterThan(40)
    const empty = cards.filter(([, title = '', about = '']) => !/[a-z]{3}/i.test(title) || about.split(' ').length < 3)
    expect(empty.map(([card]) => card)).toEqual([])
  })

  it('have no script, style or handler in the page, which its policy would refuse', () => {
    for (const [path, html] of pages) {
      expect([path, html.match(/<script(?! src="\/page-assets\/)|<style|\son\w+="|\sstyle="|javascript:/g)]).toEqual([
        path,
        null,
      ])
    }
  })

  it('show what stands in their files as text, not as HTML', () => {
    expect(pages.get('/docs/architecture')).toContain('&lt;subject&gt;')
  })

  it('tell this server by its own address where commands are run as they stand', () => {
    const start = pages.get('/getting-started') ?? ''
    expect(start).toContain(`url=${served.app.publicUrl()}`)
  })

  it('are searched by an index of every heading, whose addresses lead there', async () => {
    const [, address = ''] = /data-index="([^"]+)"/.exec(pages.get('/docs') ?? '') ?? []
    const response = await get(address)
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    const passages = (await response.json()) as { href: string; title: string; heading: string; words: string }[]
    expect(passages.find(({ heading }) => heading === 'Rate limits')).toMatchObject({
      href: '/docs/errors#rate-limits',
      title: 'Errors',
    })
    for (const { href } of passages) {
      const [page = '', anchor] = href.split('#')
      expect([href, pages.get(page)?.includes(anchor === undefined ? '<h1' : `id="${anchor}"`)]).toEqual([href, true])
    }
  })

  it('are not asked for twice by those who have them, and have the policy of pages', async () => {
    const first = await get('/docs/errors')
    expect(first.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; style-src 'self'/,
    )
    const again = await get('/docs/errors', { 'if-none-match': first.headers.get('etag') ?? '' })
    expect([again.status, await again.text()]).toEqual([304, ''])
  })

  it.each([
    '/docs/nothing',
    '/docs/architecture.md',
    '/docs/getting-started',
    '/docs/..%2f..%2fpackage',
    '/page-assets/nothing.js',
  ])('are not found at %s', async (path) => {
    const response = await get(path)
    expect([response.status, await response.json()]).toEqual([404, expect.objectContaining({ code: 'not_found' })])
  })

  it('tell a browser in a page what is not there, and where to look', async () => {
    const response = await get('/docs/no<b>thing', { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' })
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
    expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'/)
    const forPrograms = await get('/docs/nothing')
    for (const { headers } of [response, forPrograms]) expect(headers.get('vary')?.toLowerCase()).toContain('accept')
    const html = await response.text()
    expect(html).toContain('Nothing is at <code>/docs/no&lt;b&gt;thing</code>')
    expect(html).toContain('<a href="/docs">in the guides</a>')
  })

  it('are led to by the address of their hub with a slash behind it', async () => {
    const response = await get('/docs/')
    expect([response.status, response.headers.get('location')]).toEqual([302, '/docs'])
  })

  it.each(['/swagger-ui', '/getting-started', '/docs/agents'])(
    'are led to by their address with a slash behind it: %s',
    async (path) => {
      const response = await get(`${path}/?from=a-link`)
      expect([response.status, response.headers.get('location')]).toEqual([302, path])
      expect(response.headers.get('ratelimit')).toMatch(/^"address"/)
    },
  )

  it('leave the root to the dashboard', async () => {
    const response = await get('/')
    expect([response.status, response.headers.get('location')]).toEqual([302, '/app/'])
  })

  it('count for the address of whoever asks, and their files do not', async () => {
    const strict = await ServedApp.start(test, { settings: { RATE_LIMIT_IP_PER_MINUTE: '3' } })
    const ask = async (path: string) => (await fetch(strict.address + path, { redirect: 'manual' })).status
    const page = await (await fetch(`${strict.address}/docs`)).text()
    const [, script = ''] = /src="([^"]+)"/.exec(page) ?? []
    expect([await ask('/getting-started'), await ask('/swagger-ui'), await ask('/docs')]).toEqual([200, 200, 429])
    expect([await ask(script), await ask('/page-assets/unknown.js'), await ask('/')]).toEqual([200, 429, 429])
    // Whoever reads them in a browser is told so in a page.
    for (const path of ['/', '/docs', '/docs/errors', '/getting-started', '/swagger-ui', '/app/']) {
      const answer = await fetch(strict.address + path, { headers: { accept: 'text/html' }, redirect: 'manual' })
      expect([path, answer.status, answer.headers.get('retry-after')]).toEqual([path, 429, expect.any(String)])
      expect(await answer.text()).toMatch(/<p>Too many requests: wait \d+ s before the next one\.<\/p>/)
    }
    await strict.app.close()
  })
})
