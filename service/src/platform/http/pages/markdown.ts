import MarkdownIt, { type Token } from 'markdown-it'

/** A heading of a page: where it is, and how deep. */
export type Heading = { level: number; text: string; anchor: string }

/** What stands below one heading, as plain words. */
export type Passage = { heading: Heading; words: string }

/** A page of Markdown as HTML, with what a table of contents and a search want to know of it. */
export type Rendered = { title: string; html: string; headings: Heading[]; passages: Passage[] }

/** Without raw HTML: what looks like a tag is text, and addresses of scripts are no links. */
const markdown = new MarkdownIt({ html: false })

// What is wider than a telephone scrolls by itself, also by keyboard.
markdown.renderer.rules['table_open'] = () =>
  '<div class="wide" role="region" aria-label="Table" tabindex="0"><table>\n'
markdown.renderer.rules['table_close'] = () => '</table></div>\n'
markdown.renderer.rules['fence'] = (tokens, at) => {
  const { info = '', content = '' } = tokens[at] ?? {}
  const language = info.trim().split(/\s+/)[0] ?? ''
  const { escapeHtml } = markdown.utils
  return `<pre tabindex="0"><code class="language-${escapeHtml(language || 'text')}">${escapeHtml(content)}</code></pre>\n`
}

/** Makes the address of a link out of what stands in the file; null for what leads nowhere here and is shown as text. */
type LinkOf = (href: string) => string | null

/** Renders a page. */
export function renderMarkdown(text: string, linkOf: LinkOf): Rendered {
  const tokens = markdown.parse(text, {})
  const headings = markHeadings(tokens)
  for (const token of tokens) pointLinks(token.children ?? [], linkOf)
  const title = headings.find(({ level }) => level === 1)?.text ?? ''
  const html = markdown.renderer.render(tokens, markdown.options, {})
  return { title, html, headings, passages: passagesIn(tokens, headings) }
}

function pointLinks(tokens: Token[], linkOf: LinkOf): void {
  let leadsSomewhere = true
  for (const token of tokens) {
    const href = token.type === 'link_open' ? linkOf(String(token.attrGet('href') ?? '')) : undefined
    if (href !== undefined) leadsSomewhere = href !== null
    if (typeof href === 'string') token.attrSet('href', href)
    else if (!leadsSomewhere && token.type.startsWith('link_')) Object.assign(token, { type: 'text', content: '' })
  }
}

/** Gives each heading its anchor, spelled as the common hosts of repositories spell theirs. */
function markHeadings(tokens: Token[]): Heading[] {
  const taken = new Map<string, number>()
  return tokens.flatMap((token, at) => {
    if (token.type !== 'heading_open') return []
    const text = plainText(tokens[at + 1])
    const plain = slugOf(text)
    const count = taken.get(plain) ?? 0
    taken.set(plain, count + 1)
    const anchor = count === 0 ? plain : `${plain}-${count}`
    token.attrSet('id', anchor)
    return [{ level: Number(token.tag.slice(1)), text, anchor }]
  })
}

function slugOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

function plainText(token: Token | undefined): string {
  const parts = token?.children ?? []
  return parts.map(({ type, content }) => (type === 'softbreak' ? ' ' : content)).join('')
}

const MAX_WORDS_CHARS = 700

/** Code is left out: it is looked for by the words around it. */
function passagesIn(tokens: Token[], headings: Heading[]): Passage[] {
  const words: string[][] = headings.map(() => [])
  let at = -1
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'heading_open') at += 1
    else if (token.type === 'inline' && tokens[index - 1]?.type !== 'heading_open') words[at]?.push(plainText(token))
  }
  return headings.map((heading, index) => ({
    heading,
    words: (words[index] ?? []).join(' ').slice(0, MAX_WORDS_CHARS),
  }))
}
