// `npm run pack`: what others install, the client and the simulator, as JavaScript with types that Node 20 runs. Writes
// `dist/parley-client-….tgz` and `dist/parley-simulator-….tgz`, or into the folder that it is given.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { readArguments, UsageError } from './live/options.ts'
import { EXIT, runProgram } from './live/program.ts'

const ROOT = join(import.meta.dirname, '..')
const PACKAGES = ['client', 'simulator']
const USAGE = `npm run pack -- [folder]

Makes packages of the client and of the simulator, and prints where they are: in dist/, or in the folder that is given.
`
/** What is packed beside the code, where a package has it. */
const BESIDE = ['README.md', 'scenarios']

type Manifest = {
  name: string
  version: string
  description?: string
  license: string
  engines: Record<string, string>
  dependencies: Record<string, string>
  exports: Record<string, string>
  imports?: Record<string, Record<string, string>>
  bin?: Record<string, string>
}

/** Packs a workspace into a folder; returns the path of the tarball. */
function pack(workspace: string, into: string): string {
  const source = join(ROOT, workspace)
  const stage = mkdtempSync(join(tmpdir(), 'parley-pack-'))
  try {
    compile(source, stage)
    for (const name of BESIDE) {
      if (existsSync(join(source, name))) cpSync(join(source, name), join(stage, name), { recursive: true })
    }
    cpSync(join(ROOT, 'LICENSE'), join(stage, 'LICENSE'))
    const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as Manifest
    writeFileSync(join(stage, 'package.json'), `${JSON.stringify(published(manifest), null, 2)}\n`)
    const [{ filename }] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', into], stage))
    return join(into, filename)
  } finally {
    rmSync(stage, { recursive: true })
  }
}

/** Everything but the tests, file by file. */
function compile(source: string, stage: string): void {
  const config = {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions: {
      ...{ noEmit: false, declaration: true, rewriteRelativeImportExtensions: true, target: 'es2023' },
      ...{
        lib: ['es2023'],
        rootDir: join(source, 'src'),
        outDir: join(stage, 'dist'),
        allowImportingTsExtensions: false,
      },
      ...{ types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] },
    },
    include: [join(source, 'src')],
    exclude: ['**/*.test.ts', '**/*.fixture.ts'].map((pattern) => join(source, 'src', pattern)),
  }
  const file = join(stage, 'tsconfig.json')
  writeFileSync(file, JSON.stringify(config))
  run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', file], source)
  rmSync(file)
  copyDeclarations(join(source, 'src'), join(stage, 'dist'))
}

/** Those that were written by hand: the compiler reads them and leaves them where they are. */
function copyDeclarations(from: string, to: string): void {
  const written = readdirSync(from, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.d.ts'))
  for (const name of written) cpSync(join(from, name), join(to, name))
}

/** The manifest of what is installed: of what this one says about sources, where their JavaScript is. */
function published(manifest: Manifest) {
  const { name, version, description, license, engines, dependencies, exports, imports, bin } = manifest
  const built = (path: string, extension: string) =>
    path.replace(/^(?:\.\/)?src\//, './dist/').replace(/\.ts$/, extension)
  const entries = Object.entries(exports).map(([key, path]) => {
    return [key, { types: built(path, '.d.ts'), default: built(path, '.js') }] as const
  })
  const insides = Object.entries(imports ?? {}).map(([key, paths]) => {
    const byCondition = Object.entries(paths).map(([condition, path]) => [condition, built(path, '.js')] as const)
    return [key, Object.fromEntries(byCondition)] as const
  })
  const programs = Object.entries(bin ?? {}).map(([key, path]) => [key, built(path, '.js').slice('./'.length)] as const)
  const [, main] = entries.find(([key]) => key === '.') ?? []
  return {
    ...{ name, version, description, license, type: 'module', engines },
    // Compilers that resolve as Node 10 did, which are those of CommonJS by default, read no `exports`.
    ...(main && { main: main.default, types: main.types }),
    ...{ files: ['dist', ...BESIDE], exports: Object.fromEntries(entries), dependencies },
    ...(insides.length > 0 && { imports: Object.fromEntries(insides) }),
    ...(programs.length > 0 && { bin: Object.fromEntries(programs) }),
  }
}

function run(program: string, args: string[], cwd: string): string {
  return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
}

await runProgram(async () => {
  const { values, positionals } = readArguments({ help: { type: 'boolean', default: false, short: 'h' } })
  if (values.help) {
    process.stdout.write(USAGE)
    return EXIT.ok
  }
  const [folder = join(ROOT, 'dist'), ...more] = positionals
  if (more.length > 0) throw new UsageError(USAGE)
  const into = resolve(folder)
  mkdirSync(into, { recursive: true })
  for (const workspace of PACKAGES) console.log(pack(workspace, into))
  return EXIT.ok
})
