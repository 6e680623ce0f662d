// Starts the demo where everything is there that it needs.
import { refuseOldNode, refuseUnlessInstalled } from './installed.js'

refuseUnlessInstalled()
refuseOldNode()

await import('../scripts/demo.ts')
