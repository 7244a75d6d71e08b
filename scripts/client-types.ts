// Writes the types of the API from the descriptions that the service gives of itself: for the client those of the public
// one, for the dashboard those of everything. With --check it only compares.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { apiFacts } from '../service/src/api-description.ts'
import { buildApp } from '../service/src/app.ts'
import { readConfig } from '../service/src/config.ts'
import { makeDeps } from '../service/src/deps.ts'
import { type DocumentName, describeApi } from '../service/src/platform/http/openapi/document.ts'
import { makeLog } from '../service/src/platform/log.ts'

const ROOT = join(import.meta.dirname, '..')
const FILES: { file: string; document: DocumentName }[] = [
  { file: 'client/src/public-api.ts', document: 'public' },
  { file: 'dashboard/src/api/api-types.ts', document: 'openapi' },
]
const head = (document: DocumentName): string =>
  `// Made from /api-docs/${document}.json by \`npm run docs\`. Not to be changed by hand.\n\n`

/** Of the routes as they are registered; without a database, which their description does not ask. */
async function descriptions(folder: string): Promise<string[]> {
  const config = readConfig({ DATABASE_URL: 'none', DATA_DIR: folder })
  const log = makeLog({ level: 'silent', secrets: [] })
  const app = await buildApp(await makeDeps(config, log, { version: '0', pid: process.pid }))
  const facts = apiFacts(app.server, 'https://voice.example.com')
  try {
    return await Promise.all(FILES.map(async ({ document }) => JSON.stringify(await describeApi(document, facts))))
  } finally {
    await app.close()
  }
}

/** By a program that has a compiler of its own, older than ours. */
async function written(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-types-'))
  try {
    const texts = await descriptions(folder)
    return FILES.map(({ document }, at) => {
      const [from, to] = [join(folder, `${document}.json`), join(folder, `${document}.ts`)]
      writeFileSync(from, texts[at] ?? '')
      execFileSync(process.execPath, [generator(), from, '--output', to, '--alphabetize'], { stdio: 'pipe' })
      return head(document) + readFileSync(to, 'utf8')
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function generator(): string {
  const { resolve } = createRequire(join(ROOT, 'client/package.json'))
  return join(dirname(resolve('openapi-typescript/package.json')), 'bin/cli.js')
}

const texts = await written()
for (const [at, { file }] of FILES.entries()) {
  const [path, text] = [join(ROOT, file), texts[at] ?? '']
  if (!process.argv.includes('--check')) writeFileSync(path, text)
  else if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
    console.error(`${file} is not what the service says: run \`npm run docs\`.`)
    process.exitCode = 1
  }
}
