// Writes `client/src/public-api.ts`, the types of the client, from the description of the public API that the service gives of
// itself; with --check it only compares.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { apiFacts } from '../service/src/api-description.ts'
import { buildApp } from '../service/src/app.ts'
import { readConfig } from '../service/src/config.ts'
import { makeDeps } from '../service/src/deps.ts'
import { describeApi } from '../service/src/platform/http/openapi/document.ts'
import { makeLog } from '../service/src/platform/log.ts'

const ROOT = join(import.meta.dirname, '..')
const FILE = 'client/src/public-api.ts'
const HEAD = '// Made from the description of the public API by `npm run docs`. Not to be changed by hand.\n\n'

/** Of the routes as they are registered; without a database, which their description does not ask. */
async function description(folder: string): Promise<string> {
  const config = readConfig({ DATABASE_URL: 'none', DATA_DIR: folder })
  const log = makeLog({ level: 'silent', secrets: [] })
  const app = await buildApp(await makeDeps(config, log, { version: '0', pid: process.pid }))
  try {
    return JSON.stringify(await describeApi('public', apiFacts(app.server, 'https://voice.example.com')))
  } finally {
    await app.close()
  }
}

/** By a program that has a compiler of its own, older than ours. */
async function written(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-types-'))
  try {
    const [from, to] = [join(folder, 'public.json'), join(folder, 'public-api.ts')]
    writeFileSync(from, await description(folder))
    execFileSync(process.execPath, [generator(), from, '--output', to, '--alphabetize'], { stdio: 'pipe' })
    return HEAD + readFileSync(to, 'utf8')
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function generator(): string {
  const { resolve } = createRequire(join(ROOT, 'client/package.json'))
  return join(dirname(resolve('openapi-typescript/package.json')), 'bin/cli.js')
}

const path = join(ROOT, FILE)
const text = await written()
if (!process.argv.includes('--check')) writeFileSync(path, text)
else if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
  console.error(`${FILE} is not what the service says: run \`npm run docs\`.`)
  process.exitCode = 1
}
