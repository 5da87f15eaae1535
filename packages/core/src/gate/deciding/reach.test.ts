import { describe, expect, test } from 'vitest';
import { newTestWhys, testChangeWhys } from './test-change.ts';

const PHPUNIT = `<?php
use PHPUnit\\Framework\\TestCase;

final class AreaTest extends TestCase
{
    /** @test */
    public function squares(): void
    {
        $this->assertSame(4, area(2));
    }

    /**
     * @dataProvider sizes
     */
    public function testSizes($a, $b): void
    {
        $this->assertSame($b, area($a));
    }
}
`;
const JUNIT = `import org.junit.jupiter.api.Test;

class AreaTest {
  @Test
  void squares() {
    assertEquals(4, Area.of(2));
  }
}
`;
describe('a new test file that reaches the tests of other files is reported', () => {
  test.each([
    [
      'a module of the product',
      'tests/test_a.py',
      'import total\n\ntotal.is_odd = lambda n: True\n\n\ndef test_a():\n    pass\n',
    ],
    ['another test', 'tests/test_a.py', 'import test_b\n\n\ndef test_a():\n    test_b.test_b = print\n'],
    ['the library', 'tests/test_a.py', "import unittest\n\nsetattr(unittest.TestCase, 'assert' + 'Equal', print)\n"],
    ['the session', 'tests/test_a.py', 'def test_a(request):\n    request.session.items.clear()\n'],
    ['the end', 'tests/test_a.py', 'import atexit\n\natexit.register(print)\n\n\ndef test_a():\n    pass\n'],
    ['the list of tests', 'tests/__init__.py', 'def load_tests(a, b, c):\n    return b\n\n\ndef test_a():\n    pass\n'],
    ['all tests of a package', 'a_test.go', 'package a\n\nfunc TestMain(m *testing.M) {\n\tm.Run()\n}\n'],
  ])('%s', (_what, path, text) => {
    expect(newTestWhys(path, text)).toHaveLength(1);
  });

  test.each([
    [
      'set-up of its own',
      'tests/test_a.py',
      'import shapes\n\n\ndef setup_module():\n    pass\n\n\nclass A:\n    kind: shapes.Kind = shapes.ROUND\n\n    def test_a(self, monkeypatch):\n        monkeypatch.setattr(shapes, "area", print)\n        thing = shapes.new()\n        thing.size = 3\n        setattr(thing, "size", 4)\n',
    ],
    [
      'where it finds modules',
      'tests/test_a.py',
      "import sys\n\nsys.path.insert(0, 'src')\nimport shapes\n\n\ndef test_a():\n    assert shapes\n",
    ],
    ['a case', 'a_test.go', 'package a\n\nvar mode fs.FileMode = 3\n\nfunc TestA(t *testing.T) {\n}\n'],
  ])('and not when it has %s', (_what, path, text) => {
    expect(newTestWhys(path, text)).toEqual([]);
  });
});

describe('what a test runner reads outside the code of a test', () => {
  test.each([
    ['the annotation of PHPUnit', 'tests/AreaTest.php', PHPUNIT, '    /** @test */\n', ''],
    ['the rows of PHPUnit', 'tests/AreaTest.php', PHPUNIT, 'dataProvider sizes', 'dataProvider none'],
    [
      'code that Java runs first',
      'src/test/java/AreaTest.java',
      JUNIT,
      '  @Test',
      '  static {\n    Quiet.all();\n  }\n\n  @Test',
    ],
  ])('decides: %s', (_what, path, text, from, to) => {
    expect(text).toContain(from);
    expect(testChangeWhys(path, text, text.replace(from, to))).toHaveLength(1);
  });

  test('does not decide in a new test', () => {
    const added =
      '    /** @test */\n    public function zero(): void\n    {\n        $this->assertSame(0, area(0));\n    }\n\n    /**\n     * @data';
    expect(testChangeWhys('tests/AreaTest.php', PHPUNIT, PHPUNIT.replace('    /**\n     * @data', added))).toEqual([]);
  });
});
