/** What an agent may write: everything that the page renders. */
const DOCUMENT = `# The sign

Paint it **by hand**, see <https://example.org/signs> and \`sign.ts\`.
Two coats.

### Steps

1. Sand the board
   - [x] front
   - [ ] back
2. Paint

| part | colour | minutes | where it is kept |
|---|---|--:|:-:|
| frame_of_the_sign_that_hangs_over_the_old_door | oak brown | 20 | shed |
| letters | white | 45 | loft |

\`\`\`ts
// The longest name decides how wide the sign is.
export const width = (names: string[]): number => Math.max(...names.map((name) => name.length * 12)) + 2 * MARGIN;
\`\`\`

> The old one said “Mill”.

השלט תלוי מעל הדלת, **מימין**.
`;

/** What it must not get through with. */
const TRICKS = `<script>window.pwned = 1</script><img src=x onerror="window.pwned=1">

![pixel](https://tracker.example/pixel.png) [click](javascript:window.pwned=1) [here](data:text/html,x)
[https://example.org](https://evil.example/login) desrever &#x202e;too

<style>body { display: none }</style><div id="page">twin</div>
`;

export const MARKDOWN = `${DOCUMENT}\n${TRICKS}`;
