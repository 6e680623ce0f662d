// Builds the page at `/`, where it is not built yet: npm runs this when it has installed the packages. The service
// must be installable without the page, so that nothing here is a failure unless `--strict` is given. Plain JavaScript
// that an older Node runs, too.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { builtDigest, builtFolder, digestOf, hasSources, stampOf } from './console-stamp.js'

const isStrict = process.argv.includes('--strict')
const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const folder = builtFolder(root)

/** Files that were compressed by whoever made them. */
const compressedKinds = new Set(['.png', '.woff2', '.jpg', '.webp'])

/** A compressed form that is hardly smaller is not worth its place. */
const compressedShareMax = 0.95

/** Times that the folder is put in its place, while another build does the same. */
const swapsMax = 5

const compressors = {
  br: (bytes) => {
    const params = {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    }
    return promisify(brotliCompress)(bytes, { params })
  },
  gz: (bytes) => promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }),
}

function say(line) {
  process.stdout.write(`console: ${line}\n`)
}

/** Nothing was built: a reason to fail only for whoever has asked for it. */
function giveUp(reason) {
  say(`not built: ${reason}`)
  if (isStrict) process.exitCode = 1
}

/** What builds; undefined, and why is said, where that is not there. */
async function loadVite() {
  try {
    return await import('vite')
  } catch (error) {
    const isMissing = error.code === 'ERR_MODULE_NOT_FOUND' && error.message.includes("'vite'")
    const refusal = `Node ${process.versions.node} cannot load Vite: ${error.message}`
    giveUp(isMissing ? 'Vite is not installed (--omit=dev)' : refusal)
    return undefined
  }
}

/** Folders of builds that were killed. */
function removeLeftovers() {
  for (const name of readdirSync(dirname(folder))) {
    const [, pid] = /^console\.(\d+)\./.exec(name) ?? []
    if (pid !== undefined && !isAlive(Number(pid))) {
      rmSync(join(dirname(folder), name), { recursive: true, force: true })
    }
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Somebody else's process is one all the same.
    return error.code === 'EPERM'
  }
}

/** Puts compressed forms beside the files of a folder, and says how many files and bytes there are. */
async function compressAll(built) {
  const files = filesIn(built)
  const sizes = await Promise.all(files.map(compress))
  return { files: files.length, bytes: sizes.reduce((sum, size) => sum + size, 0) }
}

function filesIn(of) {
  return readdirSync(of, { withFileTypes: true }).flatMap((entry) => {
    const path = join(of, entry.name)
    return entry.isDirectory() ? filesIn(path) : [path]
  })
}

async function compress(path) {
  if (compressedKinds.has(extname(path))) return statSync(path).size
  const bytes = readFileSync(path)
  let smallest = bytes.length
  for (const [ending, compressed] of Object.entries(compressors)) {
    const result = await compressed(bytes)
    if (result.length > bytes.length * compressedShareMax) continue
    writeFileSync(`${path}.${ending}`, result)
    smallest = Math.min(smallest, result.length)
  }
  return smallest
}

/** Replaces what was built before. In between there is nothing for a moment: who finds nothing then looks again. */
function putInPlace(built) {
  const old = join(dirname(folder), `console.${process.pid}.old`)
  for (let swap = 1; ; swap++) {
    try {
      if (existsSync(folder)) renameSync(folder, old)
      renameSync(built, folder)
      return
    } catch (error) {
      // Another build has done one of both first.
      if (swap === swapsMax) throw error
    } finally {
      rmSync(old, { recursive: true, force: true })
    }
  }
}

async function build(vite, sources) {
  const startedAt = Date.now()
  mkdirSync(dirname(folder), { recursive: true })
  removeLeftovers()
  const built = join(dirname(folder), `console.${process.pid}.new`)
  // What somebody's shell says must not get into the page.
  process.env.NODE_ENV = 'production'
  try {
    await vite.build({
      root: join(root, 'console'),
      base: '/console/',
      logLevel: 'warn',
      build: { outDir: built, emptyOutDir: true },
    })
    const { files, bytes } = await compressAll(built)
    const stamp = stampOf(sources)
    writeFileSync(join(built, stamp.name), stamp.content)
    putInPlace(built)
    const seconds = ((Date.now() - startedAt) / 1000).toFixed(1)
    say(`built in ${seconds} s: ${files} files, ${Math.ceil(bytes / 1024)} KiB compressed`)
  } finally {
    rmSync(built, { recursive: true, force: true })
  }
}

async function run() {
  if (!hasSources(root)) return giveUp('there is no folder console/')
  const sources = digestOf(root)
  const isThere = existsSync(join(folder, 'index.html'))
  if (isThere && builtDigest(folder) === sources) return say('built already')
  const vite = await loadVite()
  if (vite === undefined) return undefined
  return await build(vite, sources)
}

try {
  await run()
} catch (error) {
  giveUp(error instanceof Error ? error.message : String(error))
}
