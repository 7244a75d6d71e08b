import { type Guides, readGuides } from './guides.ts'
import { frontPage, guidePage, missingPage, searchIndex } from './hub-page.ts'
import { type KeptAnswer, keepAnswer, keeping } from './kept-answer.ts'
import { PageAssets } from './page-assets.ts'
import { type FrameAssets, framed, type Page } from './page-frame.ts'
import { swaggerPage } from './swagger-page.ts'

/** Makes the pages when they are first asked for: a start does not wait for them. */
export type PageMaker = {
  /** The page at this address, or null. */
  page(path: string): Promise<KeptAnswer | null>
  /** HTML that says that nothing is at this address, beside what there is. */
  missing(path: string): Promise<string>
  /** The file of this hashed name, or null. Names are told by the pages, which another node may have made. */
  asset(name: string): Promise<KeptAnswer | null>
}

type Deps = {
  /** Where the Markdown of the guides is; ends with a slash. */
  folder: URL
  /** The address of this service, asked once it listens. */
  publicUrl: () => string
}

/** The type of every page. */
export const HTML = 'text/html; charset=utf-8'
const files = (name: string) => new URL(`./assets/${name}`, import.meta.url)

export function makePages({ folder, publicUrl }: Deps): PageMaker {
  const assets = new PageAssets()
  const whole = keeping(async (_all: 'all') => {
    const guides = await readGuides(folder, publicUrl())
    const index = Buffer.from(JSON.stringify(searchIndex(guides)))
    const frame: FrameAssets = {
      style: await assets.addFile(files('docs.css')),
      script: await assets.addFile(files('docs.js')),
      icon: await assets.addFile(files('icon.svg')),
      index: await assets.add('search.json', index),
    }
    return { guides, frame }
  })
  const page = keeping(async (path: string) => {
    const { guides, frame } = await whole('all')
    const found = await pageAt(path, guides, assets)
    return found && keepAnswer(HTML, Buffer.from(framed(found, frame)))
  })
  const swagger = keeping(async (_all: 'all') => swaggerPage(assets))
  return {
    async page(path) {
      const { guides } = await whole('all')
      return hasPage(path, guides) ? page(path) : null
    },
    async missing(path) {
      const { guides, frame } = await whole('all')
      return framed(missingPage(path, guides), frame)
    },
    async asset(name) {
      await whole('all')
      const known = assets.find(name)
      if (known) return known
      await swagger('all')
      return assets.find(name)
    },
  }
}

/** Asked first, so that nothing is kept for addresses that somebody has made up. */
function hasPage(path: string, { bySlug }: Guides): boolean {
  return path === '/docs' || path === '/swagger-ui' || guideAt(path, bySlug) !== undefined
}

function guideAt(path: string, bySlug: Guides['bySlug']) {
  const guide = bySlug.get(path.split('/').at(-1) ?? '')
  return guide?.address === path ? guide : undefined
}

async function pageAt(path: string, guides: Guides, assets: PageAssets): Promise<Page | null> {
  if (path === '/docs') return frontPage(guides)
  if (path === '/swagger-ui') return swaggerPage(assets)
  const guide = guideAt(path, guides.bySlug)
  return guide ? guidePage(guide, guides) : null
}
