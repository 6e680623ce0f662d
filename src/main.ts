import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

// Type stripping and compiling are done once and not at every start, in every thread: that saves half
// a second and some 50 MB. Everything else is imported after this, and the threads read it from here.
const cache = join(import.meta.dirname, '..', 'node_modules', '.cache', 'streamvault')
process.env['NODE_COMPILE_CACHE'] ??= cache
enableCompileCache(process.env['NODE_COMPILE_CACHE'])

const { serve } = await import('./cli/serve.ts')
await serve()
