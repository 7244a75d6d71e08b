import type { Guide, Guides } from './guides.ts'
import { escapeHtml, type Page } from './page-frame.ts'

/** The list of all pages, for the left column; folded on a telephone. */
function hubColumn({ sections }: Guides, current: string): string {
  const parts = sections.map(({ title, guides }) => {
    const items = guides.map(({ address, title: name }) => {
      const here = address === current ? ' aria-current="page"' : ''
      return `<li><a href="${address}"${here}>${escapeHtml(shortTitle(name))}</a></li>`
    })
    return `<h2>${title}</h2><ul>${items.join('')}</ul>`
  })
  return `<nav class="hub" aria-label="Guides"><details open><summary>All guides</summary>${parts.join('')}</details></nav>`
}

/** `Going live: your first real call` is `Going live` in a list. */
function shortTitle(title: string): string {
  return title.split(': ')[0] ?? title
}

function contents({ headings }: Guide): string {
  const shown = headings.filter(({ level }) => level === 2 || level === 3)
  if (shown.length < 2) return ''
  const items = shown.map(({ level, text, anchor }) => {
    return `<li${level === 3 ? ' class="deep"' : ''}><a href="#${anchor}">${escapeHtml(text)}</a></li>`
  })
  return `<nav class="toc" aria-label="On this page"><h2>On this page</h2><ul>${items.join('')}</ul></nav>`
}

/** The front page: what there is to read. */
export function frontPage(guides: Guides): Page {
  const parts = guides.sections.map(({ title, guides: pages }) => {
    const cards = pages.map(
      ({ address, title: name, about }) =>
        `<li><a href="${address}"><strong>${escapeHtml(shortTitle(name))}</strong>${escapeHtml(about)}</a></li>`,
    )
    return `<h2 id="${title.toLowerCase()}">${title}</h2><ul class="cards">${cards.join('')}</ul>`
  })
  const api =
    '<h2 id="api">API</h2><ul class="cards">' +
    '<li><a href="/swagger-ui"><strong>Every operation</strong>To be read, and tried in the browser.</a></li>' +
    '<li><a href="/api-docs/openapi.json"><strong>OpenAPI 3.1</strong>The same for programs, whole. ' +
    'Beside it: public.json and admin.json.</a></li></ul>'
  const lead = 'Voice calls with AI agents: an open platform, one service, many tenants.'
  return {
    ...{ title: 'Parley', description: lead, path: '/docs', hub: hubColumn(guides, '/docs') },
    main: `<main id="content"><h1>Guides</h1><p class="lead">${lead}</p>${parts[0] ?? ''}${api}${parts.slice(1).join('')}</main>`,
  }
}

/** The page of one guide, with what is read before and after it. */
export function guidePage(guide: Guide, guides: Guides): Page {
  const { title, address, html, about } = guide
  const all = guides.sections.flatMap((section) => section.guides)
  const at = all.indexOf(guide)
  const turn = `<nav class="turn" aria-label="Before and after">${turnTo('Before', all[at - 1])}${turnTo('After', all[at + 1])}</nav>`
  return {
    ...{ title, description: about || title, path: address, hub: hubColumn(guides, address), toc: contents(guide) },
    main: `<main id="content">${html}${turn}</main>`,
  }
}

/** For a browser at an address where no page is. */
export function missingPage(path: string, guides: Guides): Page {
  return {
    ...{ title: 'No such page', description: 'There is no such page.', path, hub: hubColumn(guides, path) },
    main:
      `<main id="content"><h1>There is no such page</h1><p>Nothing is at <code>${escapeHtml(path)}</code>. ` +
      'What there is to read stands <a href="/docs">in the guides</a>.</p></main>',
  }
}

function turnTo(word: string, guide: Guide | undefined): string {
  if (!guide) return ''
  return `<a href="${guide.address}"><span>${word}</span>${escapeHtml(shortTitle(guide.title))}</a>`
}

/** What the search of the pages looks in: a passage for each heading. */
export function searchIndex({ sections }: Guides): object[] {
  return sections
    .flatMap(({ guides }) => guides)
    .flatMap(({ address, title, passages }) =>
      passages.map(({ heading, words }) => ({
        href: heading.level === 1 ? address : `${address}#${heading.anchor}`,
        title: shortTitle(title),
        heading: heading.level === 1 ? shortTitle(title) : heading.text,
        words,
      })),
    )
}
