import type { RefObject } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import type { OpenEditor } from './code-mirror.ts'
import './json-editor.css'
import type { TextProblem } from './text-problems.ts'

export interface JsonEditorProps {
  readonly label: string
  readonly value: string
  readonly onChange: (text: string) => void
  /** What others than the syntax say, at the places that the paths lead to. */
  readonly problems?: readonly TextProblem[]
  /** A length of CSS. */
  readonly height?: string
  readonly isReadOnly?: boolean
}

const noProblems: readonly TextProblem[] = []

/**
 * An editor of JSON. While it is loaded, and where it cannot be, a plain text field takes its place: what is
 * typed there, and where the caret is, goes over.
 */
export function JsonEditor(props: JsonEditorProps) {
  const {
    label,
    value,
    onChange,
    problems = noProblems,
    height = '24rem',
    isReadOnly = false,
  } = props
  const host = useRef<HTMLDivElement>(null)
  const plain = useRef<HTMLTextAreaElement>(null)
  const editor = useEditor(props, { host, plain })
  const labelId = useId()
  useEffect(() => editor?.setText(value), [editor, value])
  useEffect(() => editor?.setProblems(problems), [editor, problems])
  return (
    <div class="json-editor" style={{ '--editor-height': height }}>
      <span class="label" id={labelId}>
        {label}
      </span>
      <div ref={host} hidden={editor === undefined} class="json-editor-host" />
      {editor === undefined && (
        <textarea
          ref={plain}
          class="control mono json-editor-plain"
          aria-labelledby={labelId}
          spellcheck={false}
          readOnly={isReadOnly}
          value={value}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      )}
      {editor !== undefined && !isReadOnly && (
        <p class="soft json-editor-hint">
          <kbd>Tab</kbd> indents. <kbd>Esc</kbd>, then <kbd>Tab</kbd>, leaves the editor.
        </p>
      )}
    </div>
  )
}

interface Places {
  readonly host: RefObject<HTMLDivElement | null>
  readonly plain: RefObject<HTMLTextAreaElement | null>
}

/** The editor, once it is there. */
function useEditor(props: JsonEditorProps, { host, plain }: Places): OpenEditor | undefined {
  const { isReadOnly = false } = props
  const [editor, setEditor] = useState<OpenEditor>()
  const current = useRef(props)
  current.current = props
  useEffect(() => {
    let opened: OpenEditor | undefined
    let isWanted = true
    const open = async () => {
      const { openEditor } = await import('./code-mirror.ts')
      if (!isWanted || host.current === null) return
      const before = plain.current
      const hadFocus = before !== null && document.activeElement === before
      opened = openEditor({
        root: host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' }),
        label: current.current.label,
        text: current.current.value,
        selection: before ? [before.selectionStart, before.selectionEnd] : undefined,
        isReadOnly,
        onText: (text) => current.current.onChange(text),
      })
      host.current.hidden = false
      if (hadFocus) opened.focus()
      setEditor(opened)
    }
    // Where it cannot be loaded the plain field stays: it can do all but show what is wrong.
    open().catch(() => undefined)
    return () => {
      isWanted = false
      opened?.close()
      host.current?.shadowRoot?.replaceChildren()
    }
  }, [isReadOnly])
  return editor
}
