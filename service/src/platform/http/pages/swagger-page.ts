import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import type { PageAssets } from './page-assets.ts'
import type { Page } from './page-frame.ts'

/** Of the package only the built files are used. */
const PACKAGE = createRequire(import.meta.url).resolve('@fastify/swagger-ui/package.json')
const built = (name: string) => new URL(`static/${name}`, pathToFileURL(PACKAGE))
const own = (name: string) => new URL(`./assets/${name}`, import.meta.url)

const OPTIONS = [
  ['public', 'Tenants, intake, carriers'],
  ['admin', 'Administration'],
  ['openapi', 'Everything'],
]
  .map(([value, name]) => `<option value="${value}">${name}</option>`)
  .join('')

/** The page on which the API is read and tried, with the three descriptions to choose from. */
export async function swaggerPage(assets: PageAssets): Promise<Page> {
  const styles = [
    await assets.add('swagger-ui.css', await readFile(built('swagger-ui.css'))),
    await assets.add('swagger.css', await readFile(own('swagger.css'))),
  ]
  const scripts = [
    await assets.add('swagger-ui.js', await readFile(built('swagger-ui-bundle.js'))),
    await assets.add('swagger-start.js', await readFile(own('swagger-start.js'))),
  ]
  return {
    title: 'The API',
    description: 'Every operation of the API, to be read and tried.',
    path: '/swagger-ui',
    head: [
      ...styles.map((address) => `<link rel="stylesheet" href="${address}">`),
      ...scripts.map((address) => `<script src="${address}" defer></script>`),
    ].join('\n'),
    main:
      '<main id="content" class="api"><h1>The API</h1><p class="lead">Every operation, to be read and tried. ' +
      'What you send from here goes to this service, with the credential that you give under Authorize.</p>' +
      `<p class="choice"><label for="select">Description</label><select id="select">${OPTIONS}</select></p>` +
      '<div id="swagger"></div></main>',
  }
}
