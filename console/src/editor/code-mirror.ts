import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { json } from '@codemirror/lang-json'
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language'
import { lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint'
import { EditorState } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { diagnosticsOf, type TextProblem } from './text-problems.ts'

export interface EditorOptions {
  /** Styles of the editor stay within: in the document the policy of the page would refuse them. */
  readonly root: ShadowRoot
  readonly label: string
  readonly text: string
  readonly selection: readonly [number, number] | undefined
  readonly isReadOnly: boolean
  readonly onText: (text: string) => void
}

export interface OpenEditor {
  /** Replaces the text, unless it says that already: the caret stays then. */
  setText(text: string): void
  setProblems(problems: readonly TextProblem[]): void
  focus(): void
  close(): void
}

/** A pause in typing that is taken for its end: what is half typed is not marked. */
const quietMs = 250

export function openEditor(options: EditorOptions): OpenEditor {
  let problems: readonly TextProblem[] = []
  const { root, text, selection, onText } = options
  const place = document.createElement('div')
  root.append(place)
  let timer: ReturnType<typeof setTimeout> | undefined
  const mark = () => {
    const { state: shown } = view
    view.dispatch(setDiagnostics(shown, diagnosticsOf(shown.doc.toString(), problems)))
  }
  const markSoon = () => {
    clearTimeout(timer)
    timer = setTimeout(mark, quietMs)
  }
  const changes = EditorView.updateListener.of((update) => {
    if (!update.docChanged) return
    onText(update.state.doc.toString())
    markSoon()
  })
  const [anchor, head] = selection ?? [0, 0]
  const state = EditorState.create({
    doc: text,
    selection: { anchor: Math.min(anchor, text.length), head: Math.min(head, text.length) },
    extensions: [...look(), ...keys(options), lintGutter(), changes],
  })
  const view = new EditorView({ state, root, parent: place })
  return {
    setText: (next) => replaceText(view, next),
    setProblems(next) {
      problems = next
      markSoon()
    },
    focus: () => view.focus(),
    close() {
      clearTimeout(timer)
      view.destroy()
    },
  }
}

/** Only what differs is replaced: the caret, the folds and the place stay where they are. */
function replaceText(view: EditorView, next: string): void {
  const before = view.state.doc.toString()
  if (before === next) return
  const shorter = Math.min(before.length, next.length)
  let from = 0
  while (from < shorter && before[from] === next[from]) from += 1
  let tail = 0
  while (tail < shorter - from && before.at(-1 - tail) === next.at(-1 - tail)) tail += 1
  const insert = next.slice(from, next.length - tail)
  view.dispatch({ changes: { from, to: before.length - tail, insert } })
}

function keys({ label, isReadOnly }: EditorOptions) {
  return [
    history(),
    // Esc lets the next Tab through to the page.
    keymap.of([...defaultKeymap, ...historyKeymap, ...foldKeymap, ...lintKeymap, indentWithTab]),
    EditorState.readOnly.of(isReadOnly),
    EditorView.contentAttributes.of({
      'aria-label': `${label}. Esc, then Tab, leaves the editor.`,
      // It can be reached, whatever is thought of editable elements.
      tabindex: '0',
      autocapitalize: 'off',
      spellcheck: 'false',
    }),
  ]
}

function look() {
  return [
    json(),
    lineNumbers(),
    foldGutter(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    drawSelection(),
    bracketMatching(),
    indentOnInput(),
    EditorView.lineWrapping,
    syntaxHighlighting(colours),
    theme,
  ]
}

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: tags.string, color: 'var(--series-3)' },
  { tag: tags.number, color: 'var(--series-2)' },
  { tag: [tags.bool, tags.null], color: 'var(--series-4)' },
  { tag: tags.invalid, color: 'var(--bad)' },
])

const theme = EditorView.theme({
  '&': {
    color: 'var(--text)',
    backgroundColor: 'var(--surface)',
    border: '1px solid var(--line-strong)',
    borderRadius: 'var(--radius)',
    height: 'var(--editor-height, 24rem)',
    fontSize: '0.86rem',
  },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '1px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5' },
  '.cm-content': { caretColor: 'var(--text)', paddingBlock: '0.4rem' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': {
    color: 'var(--text-soft)',
    backgroundColor: 'var(--ground)',
    borderRight: '1px solid var(--line)',
  },
  '.cm-activeLine, .cm-activeLineGutter': {
    backgroundColor: 'color-mix(in srgb, var(--accent-ground) 55%, transparent)',
  },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground':
    { backgroundColor: 'color-mix(in srgb, var(--accent) 28%, transparent)' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--accent-ground)' },
  '.cm-tooltip, .cm-panels': {
    color: 'var(--text)',
    backgroundColor: 'var(--raised)',
    border: '1px solid var(--line)',
  },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--bad)' },
  '.cm-foldPlaceholder': {
    color: 'var(--text-soft)',
    backgroundColor: 'var(--ground)',
    borderColor: 'var(--line)',
  },
})
