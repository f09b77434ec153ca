"""Makes the models of scikit-learn in tests/data/scikit_learn, with skl2onnx.

    python -m tests.converters.scikit_learn

Needs scikit-learn and skl2onnx, which no test needs. The files there are of scikit-learn 1.9 and
skl2onnx 1.20.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).resolve().parents[1] / "data" / "scikit_learn"


def _estimators() -> Mapping[str, Callable[[], Any]]:
    """By name, what makes an estimator. Forests are small, so that the files are."""
    from sklearn import ensemble, linear_model, naive_bayes, neighbors, neural_network, svm, tree

    few = {"n_estimators": 3, "max_depth": 3, "random_state": 0}
    hidden = {"hidden_layer_sizes": (6,), "random_state": 0}
    return {
        "LinearRegression": linear_model.LinearRegression,
        "Ridge": linear_model.Ridge,
        "LogisticRegression": linear_model.LogisticRegression,
        "SGDClassifier": lambda: linear_model.SGDClassifier(random_state=0),
        "LinearSVC": svm.LinearSVC,
        "SVC": svm.SVC,
        "SVR": svm.SVR,
        "DecisionTreeClassifier": lambda: tree.DecisionTreeClassifier(random_state=0),
        "DecisionTreeRegressor": lambda: tree.DecisionTreeRegressor(max_depth=4, random_state=0),
        "RandomForestClassifier": lambda: ensemble.RandomForestClassifier(**few),
        "RandomForestRegressor": lambda: ensemble.RandomForestRegressor(**few),
        "GradientBoostingClassifier": lambda: ensemble.GradientBoostingClassifier(**few),
        "ExtraTreesClassifier": lambda: ensemble.ExtraTreesClassifier(3, random_state=0),
        "KNeighborsClassifier": lambda: neighbors.KNeighborsClassifier(3),
        "MLPClassifier": lambda: neural_network.MLPClassifier(**hidden),
        "MLPRegressor": lambda: neural_network.MLPRegressor(**hidden),
        "GaussianNB": naive_bayes.GaussianNB,
    }


def main() -> None:
    """Write each model alone, with two classes, with classes that are texts, and after a scaler."""
    from sklearn.datasets import load_iris
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    warnings.simplefilter("ignore")
    x, y = load_iris(return_X_y=True)
    x, y = x[::3].astype(np.float32), y[::3]
    number = x[:, 0] * 2 + np.sin(x[:, 1])
    texts = np.array(["setosa", "versicolor", "virginica"])[y]
    FOLDER.mkdir(exist_ok=True)
    for name, make in _estimators().items():
        is_classifier = name.endswith(("Classifier", "SVC", "NB")) or name == "LogisticRegression"
        _write(name, make().fit(x, y if is_classifier else number), x)
        pipeline = make_pipeline(StandardScaler(), make())
        _write(f"{name}_scaled", pipeline.fit(x, y if is_classifier else number), x)
        if is_classifier:
            _write(f"{name}_two", make().fit(x, y == 1), x)
            _write(f"{name}_texts", make().fit(x, texts), x)


def _write(name: str, model: Any, x: np.ndarray[Any, Any]) -> None:
    from skl2onnx import to_onnx

    # In a pipeline, skl2onnx asks LinearSVC for maps unless it has options of its own.
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    own = {type(last): {"raw_scores": True}} if "LinearSVC_scaled" in name else None
    found = to_onnx(model, x[:1], options=own)
    data = found.SerializeToString()
    (FOLDER / f"{name}.onnx").write_bytes(data)
    print(f"{name}: {len(data)} bytes")


if __name__ == "__main__":
    main()
