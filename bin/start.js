// Starts the service or a command. Plain JavaScript, because stripping types and compiling are done
// once, and not at every start in every thread; what strips types takes 12 MB for good as soon as a
// first file needs it, so that the cache is open before one does. The threads find it by its variable.
import * as modules from 'node:module'
import { join } from 'node:path'
import { refuseOldNode, refuseUnlessInstalled } from './installed.js'

refuseUnlessInstalled()
refuseOldNode()

const cache = join(import.meta.dirname, '..', 'node_modules', '.cache', 'streamvault')
process.env.NODE_COMPILE_CACHE ??= cache
modules.enableCompileCache(process.env.NODE_COMPILE_CACHE)

await import('../src/main.ts')
