import { createHash } from 'node:crypto'

/** What builds the console, as it is told to people. */
export const buildCommand = 'npm run build:console'

const style = `:root{color-scheme:light dark}
body{margin:0;font:16px/1.5 system-ui,sans-serif;background:light-dark(#f2f4f7,#12161d);color:light-dark(#1d2433,#e3e8f0)}
main{max-width:34rem;margin:15vh auto 0;padding:1rem}
h1{margin:0 0 .5rem;font-size:1.25rem}
code{padding:.1rem .35rem;border-radius:4px;background:light-dark(#dfe4ec,#262d3a)}
a{color:inherit}`

const styleDigest = createHash('sha256').update(style).digest('base64')

/** Nothing but our own style. */
export const missingPagePolicy = `default-src 'none'; style-src 'sha256-${styleDigest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** What people see where the console would be, when nobody has built it. */
export const missingPage = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex"><title>The console is not built</title><style>${style}</style></head>
<body><main>
<h1>The console is not built</h1>
<p>The service runs, and takes and answers everything else. To get the page, run <code>${buildCommand}</code> in the folder of the service (after <code>npm ci</code> with its development packages), and load this page again. A restart is not needed.</p>
<p>The interface is described at <a href="/docs">/docs</a>.</p>
</main></body>
</html>
`
