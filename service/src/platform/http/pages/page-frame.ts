/** The files that every page has, by their addresses. */
export type FrameAssets = { style: string; script: string; icon: string; index: string }

/** A page: what stands in the middle, and what of the frame is about it. */
export type Page = {
  title: string
  description: string
  path: string
  /** HTML. */
  main: string
  /** HTML of the head, beside what every page has. */
  head?: string
  hub?: string
  toc?: string
}

/** What a page may load: files of this service, and nothing that stands in the page itself. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
  "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (char) => ENTITIES[char] ?? char)
}

const MARK =
  '<svg viewBox="0 0 32 32" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="3" stroke-linecap="round">' +
  '<path d="M5 13.500v5M10.500 9.500v13M16 5v22M21.500 10.500v11M27 13.500v5"/></svg>'
const MOON =
  '<svg viewBox="0 0 24 24" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="2" stroke-linejoin="round">' +
  '<path d="M20 14.500A8.500 8.500 0 0 1 9.500 4a8.500 8.500 0 1 0 10.500 10.500z"/></svg>'

const PLACES = [
  ['/docs', 'Guides', ''],
  ['/getting-started', 'Getting started', 'start'],
  ['/swagger-ui', 'API', ''],
  ['/app/', 'Dashboard', 'start'],
] as const

/** A whole page of the hub as HTML. */
export function framed({ title, description, path, main, hub, toc, head }: Page, assets: FrameAssets): string {
  const columns = hub === undefined ? main : `<div class="columns">${hub}${main}${toc ?? ''}</div>`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title === 'Parley' ? title : `${title} · Parley`)}</title>
<meta name="description" content="${escapeHtml(description)}">
<link rel="icon" href="${assets.icon}" type="image/svg+xml">
<link rel="stylesheet" href="${assets.style}">
<script src="${assets.script}"></script>
${head ?? ''}
</head>
<body>
<a class="skip" href="#content">Skip to the page</a>
${bar(path, assets)}
${columns}
</body>
</html>
`
}

function bar(path: string, { index }: FrameAssets): string {
  const links = PLACES.map(([href, name, kind]) => {
    const current = href === path ? ' aria-current="page"' : ''
    return `<a href="${href}"${kind && ` class="${kind}"`}${current}>${name}</a>`
  })
  return `<header class="bar">
<a class="brand" href="/docs">${MARK}Parley</a>
<div class="search" role="search" data-index="${index}" hidden>
<input type="search" placeholder="Search the guides" aria-label="Search the guides" autocomplete="off" spellcheck="false">
<ul class="found" hidden></ul>
</div>
<nav aria-label="Places">${links.join('')}</nav>
<button class="theme" type="button" hidden>${MOON}</button>
</header>`
}
