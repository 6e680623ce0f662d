/** The style sheet of /docs: light or dark as the reader's system is. */
export const docsStyle = `
:root { color-scheme: light dark; --line: #8884; --soft: #8882; --link: #0969da }
@media (prefers-color-scheme: dark) { :root { --link: #6cb6ff } }
* { box-sizing: border-box }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; display: flex }
a { color: var(--link) }
nav { width: 20rem; flex: none; height: 100vh; position: sticky; top: 0; overflow: auto;
  padding: 1rem; border-right: 1px solid var(--line); font-size: .875rem }
nav ul { list-style: none; margin: 0 0 .5rem; padding: 0 0 0 .75rem }
main { flex: 1; min-width: 0; max-width: 60rem; padding: 1rem 2rem 6rem }
article { border-top: 1px solid var(--line); padding-bottom: 1rem }
h3 code:first-child { margin-right: .5rem; padding: .1rem .4rem; background: var(--soft) }
h4 { margin-bottom: .25rem }
table { border-collapse: collapse; width: 100%; font-size: .875rem }
td { border: 1px solid var(--line); padding: .25rem .5rem; vertical-align: top;
  overflow-wrap: anywhere }
pre { background: var(--soft); padding: .75rem; overflow: auto; font-size: .8125rem }
.error { margin: .25rem 0; font-size: .875rem }
@media (max-width: 50rem) {
  body { display: block }
  nav { width: auto; height: auto; position: static; border: 0 }
  main { padding: 1rem }
}
`
