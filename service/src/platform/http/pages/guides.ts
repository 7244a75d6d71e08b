import { readdir, readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { othersFirst } from '../../../kernel/clock.ts'
import { SECTIONS, type Section } from './guide-table.ts'
import { type Rendered, renderMarkdown } from './markdown.ts'

/** A page of the hub. */
export type Guide = Rendered & { slug: string; address: string; about: string }

/** The pages of the hub, section by section, in their order. */
export type Guides = { sections: { title: string; guides: Guide[] }[]; bySlug: Map<string, Guide> }

const START = 'getting-started'
/** What stands for files of the checkout that are no pages. */
const ELSEWHERE: Record<string, string> = { '../README.md': `/${START}`, 'decisions/': '/docs#decisions' }
/** As the files name this service, which on a page is the one that serves it. */
const NAMED_ADDRESS = 'http://localhost:8080'
const DECISIONS = 'Decisions'
/** With what the page of a decision begins, in place of a heading. */
const CONTEXT = /^Context\. /

/**
 * Reads and renders all guides, one after the other, with turns for others between them.
 *
 * @param folder holds them, and `decisions` in it; ends with a slash.
 * @param publicUrl the address of this service, for the page whose commands are to be run as they stand.
 */
export async function readGuides(folder: URL, publicUrl: string): Promise<Guides> {
  const names = (await readdir(folder, { recursive: true })).filter(isPage)
  const known = new Set(names.map((name) => basename(name, '.md')))
  const guides: Guide[] = []
  for (const name of names.sort()) {
    const slug = basename(name, '.md')
    const text = await readFile(new URL(name, folder), 'utf8')
    const own = slug === START ? text.replaceAll(NAMED_ADDRESS, publicUrl) : text
    await othersFirst()
    const rendered = renderMarkdown(own, (href) => addressOf(href, known))
    guides.push({ ...rendered, slug, address: addressOfPage(slug), about: aboutOf(slug, rendered) })
  }
  return arranged(guides, new Set(names.filter((name) => name.includes('/')).map((name) => basename(name, '.md'))))
}

/** The list of a folder's pages is for those who read the checkout: the hub is such a list. */
function isPage(name: string): boolean {
  return name.endsWith('.md') && basename(name) !== 'README.md'
}

function addressOfPage(slug: string): string {
  return slug === START ? `/${START}` : `/docs/${slug}`
}

/**
 * What a link in a file leads to here: null for a file that is no page. Addresses with a scheme, from the root, or within the
 * page are left as they are.
 */
function addressOf(href: string, known: Set<string>): string | null {
  if (/^(?:[a-z]+:|\/|#)/.test(href)) return href
  const [path = '', anchor] = href.split('#')
  const slug = basename(path, '.md')
  if (!known.has(slug)) return ELSEWHERE[path] ?? null
  return anchor === undefined ? addressOfPage(slug) : `${addressOfPage(slug)}#${anchor}`
}

/** What the table says of it, or the first sentence of the page. */
function aboutOf(slug: string, { passages }: Rendered): string {
  const told = SECTIONS.map(({ pages }) => pages[slug]).find((about) => about !== undefined)
  const begins = passages.find(({ words }) => words !== '')?.words.replace(CONTEXT, '')
  return told ?? /^.*?[.:](?= |$)/.exec(begins ?? '')?.[0] ?? ''
}

function arranged(guides: Guide[], decisions: Set<string>): Guides {
  const bySlug = new Map(guides.map((guide) => [guide.slug, guide]))
  const listed = new Set(SECTIONS.flatMap(({ pages }) => Object.keys(pages)))
  const others = guides.filter(({ slug }) => !listed.has(slug) && !decisions.has(slug))
  const sections = SECTIONS.map((section, at) => ({
    title: section.title,
    guides: [...inOrder(section, bySlug), ...(at === SECTIONS.length - 2 ? others : [])],
  }))
  const decided = guides.filter(({ slug }) => decisions.has(slug)).sort((a, b) => a.slug.localeCompare(b.slug))
  return { sections: [...sections, { title: DECISIONS, guides: decided }], bySlug }
}

function inOrder({ pages }: Section, bySlug: Map<string, Guide>): Guide[] {
  return Object.keys(pages).flatMap((slug) => bySlug.get(slug) ?? [])
}
