import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { run } from './testing/program.ts'
import { type TemporaryProject, temporaryProject } from './testing/temporary-project.ts'

/** Programs start slowly while other tests keep both cores busy. */
vi.setConfig({ testTimeout: 60_000 })

const BUILDING = 'Building the dashboard…\n'
const START = `import { buildDashboardWhenStale } from './scripts/launch/build-dashboard.mjs'
await buildDashboardWhenStale(import.meta.dirname).catch((error) => {
  console.error(error.message)
  process.exitCode = error.exitCode
})`
/** What a build needs of the real one: it is called so, writes files, and may fail. */
const VITE = `import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
const [, , , folder] = process.argv
if (readFileSync(folder + '/src/main.tsx', 'utf8') === 'broken') throw new Error('main.tsx is broken')
rmSync(folder + '/dist', { recursive: true, force: true })
mkdirSync(folder + '/dist')
writeFileSync(folder + '/dist/index.html', '<p>Parley</p>')`

let project: TemporaryProject
beforeEach(() => {
  project = temporaryProject()
  project.write('build.mjs', START)
  project.write('package.json', '{"type":"module"}')
  project.write('package-lock.json', '{}')
  project.write('node_modules/vite/package.json', '{"name":"vite","type":"module"}')
  project.write('node_modules/vite/bin/vite.js', VITE)
  project.write('dashboard/package.json', '{"name":"dashboard"}')
  project.write('dashboard/src/main.tsx', 'start()')
})
afterEach(() => project.remove())

const build = () => run(process.execPath, [join(project.root, 'build.mjs')], { env: process.env })

describe('the build of the dashboard', () => {
  it('is made once', async () => {
    expect(await build()).toMatchObject({ code: 0, stdout: BUILDING, stderr: '' })
    expect(existsSync(join(project.root, 'dashboard/dist/index.html'))).toBe(true)
    expect(await build()).toMatchObject({ code: 0, stdout: '', stderr: '' })
  })

  it.each([
    ['a source changed', () => project.write('dashboard/src/main.tsx', 'start(now)')],
    ['a source is new', () => project.write('dashboard/src/other.ts', '')],
    ['a dependency changed', () => project.write('package-lock.json', '{"x":1}')],
    ['it was taken away', () => rmSync(join(project.root, 'dashboard/dist'), { recursive: true })],
  ])('is made again when %s', async (_what, change) => {
    await build()
    change()
    expect((await build()).stdout).toBe(BUILDING)
  })

  it('says what was wrong when it fails, and is tried again', async () => {
    project.write('dashboard/src/main.tsx', 'broken')
    const ending = await build()
    expect(ending).toMatchObject({ code: 1, stdout: BUILDING })
    expect(ending.stderr).toMatch(
      /main\.tsx is broken[\s\S]*Building the dashboard failed: vite build ended with code 1\./,
    )
    expect((await build()).stdout).toBe(BUILDING)
  })
})
