import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { productFolder } from '../../config/product-version.ts'
import { messageOf } from '../../core/errors.ts'
import { builtFolderIn } from '../console/console-files.ts'
import { buildCommand } from '../console/missing-page.ts'
import { type Check, ok, warn } from './check.ts'

const name = 'console'

/** The part of `scripts/console-stamp.js` that is asked here. */
interface Stamps {
  readonly hasSources: (root: string) => boolean
  readonly digestOf: (root: string) => string
  readonly builtDigest: (folder: string) => string | undefined
}

/** The page: it is built, and from the sources that are there. The service does everything else without it. */
export async function checkConsole(root = productFolder()): Promise<Check> {
  const folder = builtFolderIn(root)
  if (!existsSync(join(folder, 'index.html'))) {
    const advice = `run ${buildCommand} in ${root}, after npm ci with its development packages`
    return warn(name, 'it is not built: / answers 503', advice)
  }
  try {
    const stamps = await stampsOf(root)
    const isKnown = stamps?.hasSources(root) === true
    if (!isKnown) return ok(name, 'it is built; its sources are not here')
    if (stamps.digestOf(root) === stamps.builtDigest(folder)) return ok(name, 'it is built')
    const advice = `run ${buildCommand} in ${root}, and restart the service`
    return warn(name, 'it was built from other sources than are there now', advice)
  } catch (error) {
    const advice = `look at the rights of ${root}`
    return warn(name, `its sources cannot be read: ${messageOf(error)}`, advice)
  }
}

/** Asked of the file that writes the stamp, so that both agree; a release may leave that out. */
async function stampsOf(root: string): Promise<Stamps | undefined> {
  const script = join(root, 'scripts', 'console-stamp.js')
  if (!existsSync(script)) return undefined
  return (await import(pathToFileURL(script).href)) as Stamps
}
